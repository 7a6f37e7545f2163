import java.io.FileInputStream;
import java.net.InetAddress;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Collections;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;

/** Requests each URL once with the exported pins. Prints the status, or "refused: " and the error's first line. */
final class Client {
    public static void main(String[] arguments) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        try (FileInputStream root = new FileInputStream(arguments[0])) {
            store.setCertificateEntry("root", CertificateFactory.getInstance("X.509").generateCertificate(root));
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, factory.getTrustManagers(), null);
        OkHttpClient client = new OkHttpClient.Builder()
            .sslSocketFactory(context.getSocketFactory(), (X509TrustManager) factory.getTrustManagers()[0])
            .certificatePinner(CertificatePins.CERTIFICATE_PINNER)
            .dns(host -> Collections.singletonList(InetAddress.getLoopbackAddress()))
            .build();
        for (int index = 1; index < arguments.length; index++) {
            Request request = new Request.Builder().url(arguments[index]).build();
            try (Response response = client.newCall(request).execute()) {
                System.out.println(response.code());
            } catch (SSLPeerUnverifiedException error) {
                System.out.println("refused: " + error.getMessage().split("\n")[0]);
            }
        }
        client.connectionPool().evictAll();
        System.exit(0);
    }
}
