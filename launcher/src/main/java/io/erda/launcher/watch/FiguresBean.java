package io.erda.launcher.watch;

import io.erda.server.figures.FigureCatalogue;
import io.erda.server.figures.StatsFigure;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanException;
import javax.management.MBeanInfo;
import javax.management.ReflectionException;

/**
 * The figures of the catalogue as attributes of a JMX bean: numbers, and texts that may be null.
 * Families of figures, which have a name for each region or kind of request, are left out.
 */
public final class FiguresBean implements DynamicMBean {
  private final MetricsEndpoint.Source source;
  private final Map<String, StatsFigure> figures = new HashMap<>();
  private final MBeanInfo info;

  public FiguresBean(MetricsEndpoint.Source source) {
    this.source = source;
    List<MBeanAttributeInfo> attributes = new ArrayList<>();
    for (StatsFigure figure : FigureCatalogue.all()) {
      if (!figure.isFamily()) {
        figures.put(figure.name(), figure);
        Class<?> type = figure.kind() == StatsFigure.Kind.TEXT ? String.class : Long.class;
        attributes.add(
            new MBeanAttributeInfo(
                figure.name(), type.getName(), figure.meaning(), true, false, false));
      }
    }
    this.info =
        new MBeanInfo(
            FiguresBean.class.getName(),
            "The figures of an Erda server",
            attributes.toArray(MBeanAttributeInfo[]::new),
            null,
            null,
            null);
  }

  @Override
  public Object getAttribute(String name) throws AttributeNotFoundException, MBeanException {
    if (!figures.containsKey(name)) {
      throw new AttributeNotFoundException(name);
    }
    return value(name, told());
  }

  private Map<String, Long> told() throws MBeanException {
    try {
      return source.figures();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MBeanException(e, "interrupted");
    } catch (RuntimeException e) {
      // A remote JMX client does not have Erda's classes.
      throw new MBeanException(new IllegalStateException(e.getMessage()), e.getMessage());
    }
  }

  private Object value(String name, Map<String, Long> told) {
    if (figures.get(name).kind() != StatsFigure.Kind.TEXT) {
      return told.get(name);
    }
    String beginning = name + "=";
    for (String each : told.keySet()) {
      if (each.startsWith(beginning)) {
        return each.substring(beginning.length());
      }
    }
    return null;
  }

  @Override
  public AttributeList getAttributes(String[] names) {
    AttributeList list = new AttributeList();
    Map<String, Long> told;
    try {
      told = told();
    } catch (MBeanException e) {
      // Attributes without a value are left out.
      return list;
    }
    for (String name : names) {
      if (figures.containsKey(name)) {
        list.add(new Attribute(name, value(name, told)));
      }
    }
    return list;
  }

  @Override
  public void setAttribute(Attribute attribute) throws AttributeNotFoundException {
    throw new AttributeNotFoundException(attribute.getName() + " can't be set");
  }

  @Override
  public AttributeList setAttributes(AttributeList attributes) {
    return new AttributeList();
  }

  @Override
  public Object invoke(String action, Object[] parameters, String[] signature)
      throws ReflectionException {
    throw new ReflectionException(new NoSuchMethodException(action));
  }

  @Override
  public MBeanInfo getMBeanInfo() {
    return info;
  }
}
