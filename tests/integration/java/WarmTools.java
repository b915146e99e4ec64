import java.io.ByteArrayOutputStream;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.security.Permission;

/**
 * Runs main classes one after the other in one JVM, for a tool's own work takes a tenth of what a JVM takes to begin.
 *
 * In, for each: count of words, words (the class first), standard input. Out: exit status, standard output, standard error. Texts are a length and bytes.
 * What a tool prints after it has asked to exit is dropped, as it would never have been printed.
 */
public final class WarmTools {
    private static final class Exit extends Error {
        Exit() { super("the tool has ended", null, false, false); }
    }

    /** Where System.out or System.err lead at present: whoever keeps the stream keeps this. */
    private static final class Sink extends OutputStream {
        private ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private boolean open;

        @Override public synchronized void write(int value) { if (open) bytes.write(value); }
        @Override public synchronized void write(byte[] some, int from, int count) { if (open) bytes.write(some, from, count); }
        synchronized void begin() { bytes = new ByteArrayOutputStream(); open = true; }
        synchronized void end() { open = false; }
        synchronized byte[] taken() { open = false; return bytes.toByteArray(); }
    }

    private static final class Source extends InputStream {
        private volatile InputStream from = InputStream.nullInputStream();

        @Override public int read() throws IOException { return from.read(); }
        @Override public int read(byte[] into, int at, int count) throws IOException { return from.read(into, at, count); }
        @Override public int available() throws IOException { return from.available(); }
    }

    private static final Sink OUT = new Sink();
    private static final Sink ERR = new Sink();
    private static final Source IN = new Source();
    private static volatile Integer status;

    public static void main(String[] none) throws Exception {
        DataInputStream wishes = new DataInputStream(System.in);
        DataOutputStream answers = new DataOutputStream(System.out);
        System.setIn(IN);
        System.setOut(new PrintStream(OUT, true));
        System.setErr(new PrintStream(ERR, true));
        forbidExit();
        while (true) {
            int count;
            try {
                count = wishes.readInt();
            } catch (EOFException end) {
                Runtime.getRuntime().halt(0);
                return;
            }
            String[] words = new String[count];
            for (int index = 0; index < count; index++)
                words[index] = new String(text(wishes), StandardCharsets.UTF_8);
            IN.from = new ByteArrayInputStream(text(wishes));
            run(words);
            answers.writeInt(status);
            for (Sink sink : new Sink[] {OUT, ERR}) {
                byte[] taken = sink.taken();
                answers.writeInt(taken.length);
                answers.write(taken);
            }
            answers.flush();
        }
    }

    private static byte[] text(DataInputStream from) throws IOException {
        return from.readNBytes(from.readInt());
    }

    private static void run(String[] words) throws InterruptedException {
        status = null;
        OUT.begin();
        ERR.begin();
        Thread tool = new Thread(() -> call(words), "main");
        tool.start();
        tool.join();
        System.out.flush();
        System.err.flush();
        if (status == null)
            status = 0;
    }

    private static void call(String[] words) {
        try {
            String[] rest = java.util.Arrays.copyOfRange(words, 1, words.length);
            Class.forName(words[0]).getMethod("main", String[].class).invoke(null, (Object) rest);
        } catch (Throwable failure) {
            Throwable cause = failure instanceof java.lang.reflect.InvocationTargetException ? failure.getCause() : failure;
            if (status == null && !(cause instanceof Exit)) {
                System.err.print("Exception in thread \"main\" ");
                cause.printStackTrace();
                status = 1;
            }
        }
    }

    @SuppressWarnings("removal")
    private static void forbidExit() {
        System.setSecurityManager(new SecurityManager() {
            @Override public void checkExit(int wanted) {
                if (status == null) {
                    System.out.flush();
                    System.err.flush();
                    OUT.end();
                    ERR.end();
                    status = wanted;
                }
                throw new Exit();
            }
            @Override public void checkPermission(Permission any) { }
            @Override public void checkPermission(Permission any, Object context) { }
        });
    }
}
