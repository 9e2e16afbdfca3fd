import java.io.File;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.graalvm.visualvm.lib.jfluid.heap.ArrayItemValue;
import org.graalvm.visualvm.lib.jfluid.heap.FieldValue;
import org.graalvm.visualvm.lib.jfluid.heap.GCRoot;
import org.graalvm.visualvm.lib.jfluid.heap.Heap;
import org.graalvm.visualvm.lib.jfluid.heap.HeapFactory;
import org.graalvm.visualvm.lib.jfluid.heap.Instance;
import org.graalvm.visualvm.lib.jfluid.heap.JavaClass;
import org.graalvm.visualvm.lib.jfluid.heap.ObjectArrayInstance;
import org.graalvm.visualvm.lib.jfluid.heap.ObjectFieldValue;
import org.graalvm.visualvm.lib.jfluid.heap.PrimitiveArrayInstance;

/**
 * What VisualVM sees in an hprof file, by its own heap walker, one fact a line with tabs between the columns:
 *
 *   instances N / bytes N / references N / dangling N / roots N
 *   type NAME COUNT BYTES                 all types that have instances, the largest first
 *   retained BYTES TYPE                   the objects that retain most
 *   path TYPE ROOT LABEL > LABEL > ...    for each type named after the file: how an instance is reached from a root
 *
 * A heap walker that throws, or sizes that do not add up, end it with status 1.
 */
public class NbCheck {
    public static void main(String[] arguments) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(arguments[0]));
        Map<String, long[]> types = new TreeMap<>();
        long instances = 0;
        long bytes = 0;
        List<JavaClass> classes = new ArrayList<>(heap.getAllClasses());
        for (JavaClass type : classes) {
            if (type.getSuperClass() == null && !type.getName().equals("java.lang.Object")) {
                throw new IllegalStateException(type.getName() + " has no superclass");
            }
            instances += type.getInstancesCount();
            bytes += type.getAllInstancesSize();
            long[] sum = types.computeIfAbsent(type.getName(), name -> new long[2]);
            sum[0] += type.getInstancesCount();
            sum[1] += type.getAllInstancesSize();
        }
        print("instances", instances);
        print("bytes", bytes);
        walk(heap, instances, bytes);
        print("roots", heap.getGCRoots().size());
        types.entrySet().stream()
            .filter(type -> type.getValue()[0] > 0)
            .sorted((a, b) -> Long.compare(b.getValue()[1], a.getValue()[1]))
            .forEach(type -> print("type", type.getKey(), type.getValue()[0], type.getValue()[1]));
        // Without the classes of java.lang.ref this throws, as do paths.
        for (Instance instance : heap.getBiggestObjectsByRetainedSize(5)) {
            print("retained", instance.getRetainedSize(), instance.getJavaClass().getName());
        }
        for (int i = 1; i < arguments.length; i++) {
            path(heap, arguments[i]);
        }
    }

    /** Visits every object and follows every reference once. */
    private static void walk(Heap heap, long instances, long bytes) {
        long count = 0;
        long sum = 0;
        long references = 0;
        long dangling = 0;
        for (Iterator<Instance> all = heap.getAllInstancesIterator(); all.hasNext();) {
            Instance instance = all.next();
            if (isClass(instance)) {
                continue;
            }
            count++;
            sum += instance.getSize();
            if (instance instanceof ObjectArrayInstance) {
                for (ArrayItemValue item : ((ObjectArrayInstance) instance).getItems()) {
                    references += item.getInstance() == null ? 0 : 1;
                }
            } else if (!(instance instanceof PrimitiveArrayInstance)) {
                for (FieldValue value : instance.getFieldValues()) {
                    if (value instanceof ObjectFieldValue) {
                        boolean found = ((ObjectFieldValue) value).getInstance() != null;
                        references += found ? 1 : 0;
                        dangling += found || value.getValue().equals("0") ? 0 : 1;
                    }
                }
            }
        }
        print("references", references);
        print("dangling", dangling);
        if (count != instances || sum != bytes) {
            throw new IllegalStateException("objects one by one: " + count + " of " + sum + " bytes");
        }
    }

    /** Prints how the first instance of a type that a root reaches is reached. */
    private static void path(Heap heap, String name) {
        for (JavaClass type : heap.getAllClasses()) {
            if (!type.getName().equals(name)) {
                continue;
            }
            for (Instance instance : type.getInstances()) {
                String path = path(heap, instance);
                if (path != null) {
                    print("path", name, path);
                    return;
                }
            }
        }
        print("path", name, "none");
    }

    private static String path(Heap heap, Instance instance) {
        String labels = "";
        Instance child = instance;
        for (int steps = 0; steps < 1000; steps++) {
            Instance parent = child.getNearestGCRootPointer();
            if (parent == null) {
                return null;
            }
            if (parent.equals(child)) {
                return (isClass(child) ? heap.getJavaClassByID(child.getInstanceId()).getName() : root(heap, child)) + "\t" + labels;
            }
            labels = label(heap, parent, child) + (labels.isEmpty() ? "" : " > " + labels);
            child = parent;
        }
        return null;
    }

    private static String root(Heap heap, Instance instance) {
        for (GCRoot root : heap.getGCRoots()) {
            if (instance.equals(root.getInstance())) {
                return root.getKind();
            }
        }
        return "?";
    }

    /** The name of a field of the parent that refers to the child. */
    private static String label(Heap heap, Instance parent, Instance child) {
        if (parent instanceof ObjectArrayInstance) {
            for (ArrayItemValue item : ((ObjectArrayInstance) parent).getItems()) {
                if (child.equals(item.getInstance())) {
                    return "[" + item.getIndex() + "]";
                }
            }
            return "?";
        }
        List<FieldValue> fields = isClass(parent)
            ? heap.getJavaClassByID(parent.getInstanceId()).getStaticFieldValues()
            : parent.getFieldValues();
        for (FieldValue field : fields) {
            if (field instanceof ObjectFieldValue && child.equals(((ObjectFieldValue) field).getInstance())) {
                return field.getField().getName();
            }
        }
        return "?";
    }

    private static boolean isClass(Instance instance) {
        return instance.getClass().getSimpleName().equals("ClassDumpInstance");
    }

    private static void print(Object... columns) {
        StringBuilder line = new StringBuilder();
        for (Object column : columns) {
            line.append(line.length() == 0 ? "" : "\t").append(column);
        }
        System.out.println(line);
    }
}
