package io.erda.simulation.mutants;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * One method of a production class, rewritten as its class is loaded. Says what it looks for by
 * name, and fails when it finds nothing: production code that moved on takes its mutants along.
 *
 * @param className of production, without {@code io.erda.}
 * @param edit made anew for each application; changes the method's code
 */
record Patch(String className, String method, Edit edit) {
  private static final ClassDesc DEFECTS = ClassDesc.of(Defects.class.getName());

  /** Rewrites code. */
  interface Edit {
    /**
     * Called for one element of the original code.
     *
     * @return whether it was the searched element, which is replaced by the code that was built
     */
    boolean replaces(CodeBuilder code, CodeElement element);
  }

  /** A call is left out; what it would have returned is 0. */
  static Patch without(String className, String method, String callee) {
    return new Patch(
        className,
        method,
        onCall(
            callee,
            (code, call) -> {
              pop(code, call);
              zero(code, TypeKind.from(call.typeSymbol().returnType()));
            }));
  }

  /** Calls are made, and an int is taken for their result. */
  static Patch result(String className, String method, String callee, int result) {
    return new Patch(
        className,
        method,
        onCall(
            callee,
            (code, call) -> {
              code.with(call);
              code.pop().loadConstant(result);
            }));
  }

  /** Calls are left out, and an int is taken for their result. */
  static Patch constant(String className, String method, String callee, int result) {
    return new Patch(
        className,
        method,
        onCall(
            callee,
            (code, call) -> {
              pop(code, call);
              code.loadConstant(result);
            }));
  }

  /** Calls go to another method of the same class and shape. */
  static Patch instead(String className, String method, String callee, String other) {
    return new Patch(
        className,
        method,
        onCall(
            callee,
            (code, call) ->
                code.invoke(
                    call.opcode(), call.owner().asSymbol(), other, call.typeSymbol(), false)));
  }

  /** Calls go to a method of {@link Defects}, which gets the receiver as its first argument. */
  static Patch defect(String className, String method, String callee, String defect) {
    return new Patch(
        className, method, onCall(callee, (code, call) -> callDefect(code, call, defect)));
  }

  /**
   * A field is read by a method of {@link Defects}, which gets the object. It returns the field's
   * primitive type, or an object of its class.
   */
  static Patch field(String className, String method, String field, String defect) {
    return new Patch(
        className,
        method,
        (code, element) -> {
          if (!(element instanceof FieldInstruction access)
              || !access.name().equalsString(field)
              || !access.opcode().name().startsWith("GET")) {
            return false;
          }
          ClassDesc type = access.typeSymbol();
          ClassDesc returned = type.isPrimitive() ? type : ConstantDescs.CD_Object;
          code.invokestatic(DEFECTS, defect, MethodTypeDesc.of(returned, ConstantDescs.CD_Object));
          if (!type.isPrimitive()) {
            code.checkcast(type);
          }
          return true;
        });
  }

  /** Stores to a field are left out. */
  static Patch withoutStore(String className, String method, String field) {
    return new Patch(
        className,
        method,
        (code, element) -> {
          if (!(element instanceof FieldInstruction access)
              || !access.name().equalsString(field)
              || !access.opcode().name().startsWith("PUT")) {
            return false;
          }
          popOne(code, TypeKind.from(access.typeSymbol()));
          code.pop();
          return true;
        });
  }

  /** Something more happens at the method's beginning. */
  static Patch before(String className, String method, Consumer<CodeBuilder> more) {
    boolean[] done = new boolean[1];
    return new Patch(
        className,
        method,
        (code, element) -> {
          if (done[0]) {
            return false;
          }
          done[0] = true;
          more.accept(code);
          code.with(element);
          return true;
        });
  }

  /** Something more happens before calls are made. */
  static Patch beforeCall(
      String className, String method, String callee, Consumer<CodeBuilder> more) {
    return new Patch(
        className,
        method,
        onCall(
            callee,
            (code, call) -> {
              more.accept(code);
              code.with(call);
            }));
  }

  /** Something more happens before the method returns. */
  static Patch beforeReturn(String className, String method, Consumer<CodeBuilder> more) {
    return new Patch(
        className,
        method,
        (code, element) -> {
          if (!(element instanceof ReturnInstruction)) {
            return false;
          }
          more.accept(code);
          code.with(element);
          return true;
        });
  }

  /** Another body. */
  static Patch body(String className, String method, Consumer<CodeBuilder> body) {
    boolean[] done = new boolean[1];
    return new Patch(
        className,
        method,
        (code, element) -> {
          if (!done[0]) {
            body.accept(code);
          }
          done[0] = true;
          return true;
        });
  }

  /** Adds a call of {@link Defects} with the values on the stack as arguments. */
  static void callDefect(CodeBuilder code, String name, String descriptor) {
    code.invokestatic(DEFECTS, name, MethodTypeDesc.ofDescriptor(descriptor));
  }

  private static void callDefect(CodeBuilder code, InvokeInstruction call, String name) {
    MethodTypeDesc type = call.typeSymbol();
    if (!call.opcode().name().equals("INVOKESTATIC")) {
      ClassDesc owner = call.owner().asSymbol();
      boolean visible = name.endsWith("OfObject");
      type = type.insertParameterTypes(0, visible ? ClassDesc.of("java.lang.Object") : owner);
    }
    code.invokestatic(DEFECTS, name, type);
  }

  interface CallEdit {
    void replace(CodeBuilder code, InvokeInstruction call);
  }

  /**
   * @param callee a method's name, or {@code name#n} for the n-th call of that name only, from 1
   */
  static Edit onCall(String callee, CallEdit edit) {
    String name = callee.replaceFirst("#.*", "");
    int only = callee.contains("#") ? Integer.parseInt(callee.replaceFirst(".*#", "")) : 0;
    int[] met = new int[1];
    return (code, element) -> {
      if (!(element instanceof InvokeInstruction call)
          || !call.name().equalsString(name)
          || (++met[0] != only && only != 0)) {
        return false;
      }
      edit.replace(code, call);
      return true;
    };
  }

  static void pop(CodeBuilder code, InvokeInstruction call) {
    List<ClassDesc> parameters = call.typeSymbol().parameterList();
    for (ClassDesc parameter : parameters.reversed()) {
      popOne(code, TypeKind.from(parameter));
    }
    if (!call.opcode().name().equals("INVOKESTATIC")) {
      code.pop();
    }
  }

  private static void popOne(CodeBuilder code, TypeKind kind) {
    if (kind.slotSize() == 2) {
      code.pop2();
    } else {
      code.pop();
    }
  }

  private static void zero(CodeBuilder code, TypeKind kind) {
    switch (kind) {
      case VOID -> {}
      case LONG -> code.lconst_0();
      case REFERENCE -> code.aconst_null();
      default -> code.iconst_0();
    }
  }

  /** The class with the method rewritten. */
  byte[] apply(byte[] original) {
    boolean[] hit = new boolean[1];
    ClassModel model = ClassFile.of().parse(original);
    BooleanSupplier found = () -> hit[0];
    CodeTransform transform =
        (code, element) -> {
          if (edit.replaces(code, element)) {
            hit[0] = true;
          } else {
            code.with(element);
          }
        };
    byte[] patched =
        ClassFile.of(ClassFile.DebugElementsOption.DROP_DEBUG)
            .transformClass(
                model,
                ClassTransform.transformingMethodBodies(
                    candidate -> candidate.methodName().equalsString(method), transform));
    if (!found.getAsBoolean()) {
      // An error, not an exception: those of a run count as found.
      throw new LinkageError(
          className + "." + method + " has changed: the mutant finds nothing to change");
    }
    return patched;
  }
}
