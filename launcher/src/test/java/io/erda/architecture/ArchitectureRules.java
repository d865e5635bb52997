package io.erda.architecture;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.TryCatchBlock;
import java.io.IOException;
import java.io.InputStream;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;

/** The rules; each returns what breaks it, in words. A module is a package below {@code root}. */
final class ArchitectureRules {
  private static final List<String> JDK = List.of("java.", "javax.crypto.", "javax.net.", "jdk.");

  /**
   * The methods whose results must be passed to constructors: the owner, then the names; {@code
   * <init>()} has no argument.
   */
  private static final Map<String, Set<String>> SOURCES_OF_TIME_AND_CHANCE =
      Map.of(
          System.class.getName(),
          Set.of("nanoTime", "currentTimeMillis"),
          Math.class.getName(),
          Set.of("random"),
          Random.class.getName(),
          Set.of("<init>()"),
          "java.util.SplittableRandom",
          Set.of("<init>()"),
          "java.security.SecureRandom",
          Set.of("<init>()"),
          ThreadLocalRandom.class.getName(),
          Set.of("current"),
          RandomGenerator.class.getName(),
          Set.of("getDefault", "of"),
          "java.util.UUID",
          Set.of("randomUUID"),
          "java.time.Instant",
          Set.of("now()"),
          "java.time.Clock",
          Set.of("systemUTC", "systemDefaultZone"));

  private static final Set<String> OF_FOREIGN_CALLS =
      Set.of("java.lang.foreign.Linker", "java.lang.foreign.SymbolLookup");

  private final String root;
  private final JavaClasses classes;

  /**
   * @param root the package whose direct children are the modules
   */
  ArchitectureRules(String root, JavaClasses classes) {
    this.root = root;
    this.classes = classes;
  }

  /**
   * The classes in package {@code from}, by their simple names that end so, from which others reach
   * a package that is none of ours.
   */
  Set<String> reaching(String target, String from, String ending) {
    Set<String> found = new TreeSet<>();
    for (JavaClass each : classes) {
      if (each.getPackageName().equals(root + "." + from)
          && each.isTopLevelClass()
          && each.getSimpleName().endsWith(ending)
          && each.getTransitiveDependenciesFromSelf().stream()
              .anyMatch(known -> known.getTargetClass().getPackageName().startsWith(target))) {
        found.add(each.getSimpleName());
      }
    }
    return found;
  }

  /**
   * Classes that know a module which theirs may not know.
   *
   * @param arrows module → the modules of ours that it may know
   */
  Collection<String> wrongArrows(Map<String, Set<String>> arrows) {
    Set<String> found = new TreeSet<>();
    for (JavaClass from : classes) {
      String module = module(from);
      if (!arrows.containsKey(module)) {
        found.add(from.getName() + " is in a module without arrows: " + module);
        continue;
      }
      for (Dependency dependency : from.getDirectDependenciesFromSelf()) {
        String target = module(dependency.getTargetClass().getBaseComponentType());
        if (!target.isEmpty() && !target.equals(module) && !arrows.get(module).contains(target)) {
          found.add(module + " must not know " + target + ": " + dependency.getDescription());
        }
      }
    }
    return found;
  }

  /**
   * Classes in the packages below the root, the rooms, that know a room which theirs may not know,
   * or of the root package more than the classes that all rooms may know.
   *
   * @param arrows room → the rooms that it may know
   * @param known which classes of the root package every room may know, by their simple names
   * @param more room → further ones that it may know
   */
  Collection<String> wrongRooms(
      Map<String, Set<String>> arrows, Predicate<String> known, Map<String, Set<String>> more) {
    Set<String> found = new TreeSet<>();
    for (JavaClass from : classes) {
      String room = module(from);
      if (room.isEmpty()) {
        continue; // Classes of the root package may use the other packages.
      }
      if (!arrows.containsKey(room)) {
        found.add(from.getName() + " is in a room without arrows: " + room);
        continue;
      }
      for (Dependency dependency : from.getDirectDependenciesFromSelf()) {
        JavaClass target = dependency.getTargetClass().getBaseComponentType();
        String other = module(target);
        boolean wrong =
            target.getPackageName().equals(root)
                ? !known.test(simpleName(target))
                    && !more.getOrDefault(room, Set.of()).contains(simpleName(target))
                : !other.isEmpty() && !other.equals(room) && !arrows.get(room).contains(other);
        if (wrong) {
          found.add(
              room
                  + " must not know "
                  + (other.isEmpty() ? simpleName(target) : other)
                  + ": "
                  + dependency.getDescription());
        }
      }
    }
    return found;
  }

  private static String simpleName(JavaClass type) {
    String name = outermost(type);
    return name.substring(name.lastIndexOf('.') + 1);
  }

  /** Classes of {@code modules} that need more than the JDK and what the arrows allow. */
  Collection<String> beyondTheJdk(Set<String> modules) {
    Set<String> found = new TreeSet<>();
    for (JavaClass from : classes) {
      if (modules.contains(module(from))) {
        for (Dependency dependency : from.getDirectDependenciesFromSelf()) {
          JavaClass target = dependency.getTargetClass().getBaseComponentType();
          boolean jdk = target.isPrimitive() || JDK.stream().anyMatch(target.getName()::startsWith);
          if (!jdk && module(target).isEmpty()) {
            found.add(module(from) + " needs more than the JDK: " + dependency.getDescription());
          }
        }
      }
    }
    return found;
  }

  /** Classes whose class file names another class, which the compiler may have put there. */
  Collection<String> naming(String binaryName) throws IOException {
    Set<String> found = new TreeSet<>();
    for (JavaClass from : classes) {
      try (InputStream file = from.getSource().orElseThrow().getUri().toURL().openStream()) {
        if (new String(file.readAllBytes(), ISO_8859_1).contains(binaryName)) {
          found.add(from.getName() + " names " + binaryName);
        }
      }
    }
    return found;
  }

  /**
   * Places outside {@code wiring} that ask for the time or for chance instead of being given it.
   */
  Collection<String> ownTimeOrChance(Set<String> freeModules, Set<String> wiring) {
    Set<String> found = new TreeSet<>();
    for (JavaClass from : classes) {
      if (!freeModules.contains(module(from)) && !wiring.contains(outermost(from))) {
        for (JavaAccess<?> access : from.getAccessesFromSelf()) {
          if (isSourceOfTimeOrChance(access.getTarget())) {
            found.add(access.getDescription());
          }
        }
      }
    }
    return found;
  }

  /** Static fields that can change, or whose type exists to be changed, outside {@code allowed}. */
  Collection<String> mutableStatics(Set<String> allowed) {
    Set<String> found = new TreeSet<>();
    for (JavaClass from : classes) {
      for (JavaField field : from.getFields()) {
        Set<JavaModifier> modifiers = field.getModifiers();
        boolean ours = !modifiers.contains(JavaModifier.SYNTHETIC);
        if (ours
            && modifiers.contains(JavaModifier.STATIC)
            && !allowed.contains(field.getFullName())) {
          if (!modifiers.contains(JavaModifier.FINAL) || isForChanging(field.getRawType())) {
            found.add("mutable static: " + field.getFullName());
          }
        }
      }
    }
    return found;
  }

  /** Calls of foreign functions outside {@code allowed}: of the JDK's linker, or of a library. */
  Collection<String> foreignCalls(Set<String> allowed) {
    Set<String> found = new TreeSet<>();
    for (JavaClass from : classes) {
      if (!allowed.contains(outermost(from))) {
        for (JavaAccess<?> access : from.getAccessesFromSelf()) {
          if (OF_FOREIGN_CALLS.contains(access.getTargetOwner().getName())) {
            found.add(access.getDescription());
          }
        }
      }
    }
    return found;
  }

  /** Code outside {@code allowed} that catches an exception, alone or beside others. */
  Collection<String> catching(Class<? extends Throwable> exception, Set<String> allowed) {
    Set<String> found = new TreeSet<>();
    for (JavaClass from : classes) {
      if (!allowed.contains(outermost(from))) {
        for (JavaCodeUnit unit : from.getCodeUnits()) {
          for (TryCatchBlock block : unit.getTryCatchBlocks()) {
            if (block.getCaughtThrowables().stream().anyMatch(c -> c.isEquivalentTo(exception))) {
              found.add(unit.getFullName() + " catches " + exception.getSimpleName());
            }
          }
        }
      }
    }
    return found;
  }

  private static boolean isSourceOfTimeOrChance(AccessTarget target) {
    Set<String> names = SOURCES_OF_TIME_AND_CHANCE.get(target.getOwner().getName());
    return names != null
        && (names.contains(target.getName())
            || (target.getFullName().endsWith("()") && names.contains(target.getName() + "()")));
  }

  private static boolean isForChanging(JavaClass type) {
    return type.getPackageName().equals("java.util.concurrent.atomic")
        || type.isAssignableTo(ThreadLocal.class)
        || type.isAssignableTo(LongAdder.class)
        || List.of(
                "java.util.HashMap",
                "java.util.ArrayList",
                "java.util.concurrent.ConcurrentHashMap",
                "java.util.concurrent.ConcurrentMap")
            .contains(type.getName());
  }

  private String module(JavaClass type) {
    String name = type.getPackageName();
    if (!name.startsWith(root + ".")) {
      return "";
    }
    String below = name.substring(root.length() + 1);
    int dot = below.indexOf('.');
    return dot < 0 ? below : below.substring(0, dot);
  }

  private static String outermost(JavaClass type) {
    return type.getEnclosingClass().map(ArchitectureRules::outermost).orElse(type.getName());
  }
}
