import java.io.FileInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Requests an address with java.net.http and a file of roots. Exits with 0 if it gets a response. */
final class JavaHttpClient {
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
        HttpClient client = HttpClient.newBuilder().sslContext(context).connectTimeout(Duration.ofSeconds(3)).build();
        HttpRequest request = HttpRequest.newBuilder(URI.create(arguments[1])).timeout(Duration.ofSeconds(3)).build();
        try {
            System.out.println(client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode());
        } catch (Exception error) {
            System.err.println(error);
            System.exit(1);
        }
        System.exit(0);
    }
}
