import java.io.FileInputStream;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import okhttp3.CertificatePinner;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;

/** Requests an address with OkHttp, a file of roots and pins. Exits with 0 if it gets a response. */
final class OkHttpPinned {
    public static void main(String[] arguments) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        try (FileInputStream roots = new FileInputStream(arguments[0])) {
            for (Certificate root : CertificateFactory.getInstance("X.509").generateCertificates(roots)) {
                store.setCertificateEntry("root" + store.size(), root);
            }
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, factory.getTrustManagers(), null);
        Request request = new Request.Builder().url(arguments[1]).build();
        String[] pins = Arrays.copyOfRange(arguments, 2, arguments.length);
        OkHttpClient client = new OkHttpClient.Builder()
            .sslSocketFactory(context.getSocketFactory(), (X509TrustManager) factory.getTrustManagers()[0])
            .certificatePinner(new CertificatePinner.Builder().add(request.url().host(), pins).build())
            .connectTimeout(3, TimeUnit.SECONDS)
            .readTimeout(3, TimeUnit.SECONDS)
            .build();
        try (Response response = client.newCall(request).execute()) {
            System.out.println(response.code());
        } catch (Exception error) {
            System.err.println(error.getMessage());
            System.exit(1);
        }
        System.exit(0);
    }
}
