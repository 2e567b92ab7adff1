package dev.steadwork;

import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * An HTTP endpoint that takes events as CloudEvents in structured JSON. Immutable; every setting returns a changed copy.
 *
 * <p>Each request has the header {@code Steadwork-Signature: t=<seconds since 1970>,v1=<hex>}, where {@code v1} is the
 * HMAC-SHA256, under the secret, of the seconds, a dot and the body. Redirects are not followed, and an endpoint in a
 * link-local network (169.254.0.0/16, fe80::/10) is refused, whatever its name resolves to when an event is sent.
 */
public final class Webhook {
    private static final Pattern LITERAL_ADDRESS = Pattern.compile("[0-9.]+|\\[.*]");
    private static final int SHORTEST_SECRET = 16;

    private final URI url;
    private final String secret;
    private final Duration timeout;
    private final int maxBytes;
    private final int failuresToOpen;
    private final Duration openFor;

    private Webhook(URI url, String secret, Duration timeout, int maxBytes, int failuresToOpen, Duration openFor) {
        this.url = url;
        this.secret = secret;
        this.timeout = timeout;
        this.maxBytes = maxBytes;
        this.failuresToOpen = failuresToOpen;
        this.openFor = openFor;
    }

    /**
     * An endpoint.
     *
     * @param url begins with {@code https://} or {@code http://}; no user or password in it
     * @param secret signs every request; at least 16 characters
     * @throws InvalidArgument if the URL or secret is not so, or the URL points into a link-local network
     */
    public static Webhook to(String url, String secret) {
        Check.notNull("webhook secret", secret);
        if (secret.length() < SHORTEST_SECRET) {
            throw new InvalidArgument("The webhook secret has %d characters; at least %d are needed."
                    .formatted(secret.length(), SHORTEST_SECRET));
        }
        return new Webhook(
                checked(Check.notNull("webhook URL", url)),
                secret,
                Duration.ofSeconds(10),
                256 << 10,
                5,
                Duration.ofSeconds(30));
    }

    /** How long an answer may take. Default 10 s, at most 30 s. */
    public Webhook timeout(Duration limit) {
        Check.positive("webhook timeout", limit);
        if (limit.compareTo(Duration.ofSeconds(30)) > 0) {
            throw new InvalidArgument("webhook timeout is %s; at most 30 s are allowed.".formatted(limit));
        }
        return new Webhook(url, secret, limit, maxBytes, failuresToOpen, openFor);
    }

    /** How large the body of a request may be. Default 256 KiB; an event that is larger goes to the dead ones. */
    public Webhook maxBytes(int bytes) {
        return new Webhook(url, secret, timeout, Check.positive("webhook maxBytes", bytes), failuresToOpen, openFor);
    }

    /**
     * After so many failures in a row nothing is sent for a while; then one event is tried. Default 5 and 30 s. What waits
     * meanwhile uses up no attempts.
     */
    public Webhook circuit(int failures, Duration pause) {
        return new Webhook(
                url,
                secret,
                timeout,
                maxBytes,
                Check.positive("webhook circuit failures", failures),
                Check.positive("webhook circuit pause", pause));
    }

    private static URI checked(String text) {
        URI url;
        try {
            url = new URI(text).parseServerAuthority();
        } catch (URISyntaxException e) {
            throw new InvalidArgument("The webhook URL is not one: %s at index %d. It begins with https:// or http://."
                    .formatted(e.getReason(), e.getIndex()));
        }
        var scheme = url.getScheme() == null ? "" : url.getScheme().toLowerCase(Locale.ROOT);
        if (!scheme.equals("https") && !scheme.equals("http") || url.getHost() == null) {
            throw new InvalidArgument(
                    "The webhook URL has the scheme '%s' and %s; it must begin with https:// or http:// and a host."
                            .formatted(scheme, url.getHost() == null ? "no host" : "host " + url.getHost()));
        }
        if (url.getUserInfo() != null) {
            throw new InvalidArgument(
                    "The webhook URL of host %s has a user or password in it; requests are signed with the secret instead."
                            .formatted(url.getHost()));
        }
        refuseLinkLocalLiteral(url.getHost());
        return url;
    }

    /** A name is looked up when an event is sent, an address can be judged now. */
    private static void refuseLinkLocalLiteral(String host) {
        if (LITERAL_ADDRESS.matcher(host).matches()) {
            try {
                refuseLinkLocal(host, InetAddress.getByName(host));
            } catch (UnknownHostException e) {
                throw new InvalidArgument("The webhook URL has the host %s, which is no address.".formatted(host));
            }
        }
    }

    /**
     * Refuses an address that only machines of the same link reach, such as the metadata services of clouds.
     *
     * @throws InvalidArgument if it is one
     */
    public static void refuseLinkLocal(String host, InetAddress address) {
        if (address.isLinkLocalAddress() || address.isAnyLocalAddress() || address.isMulticastAddress()) {
            throw new InvalidArgument(
                    "The webhook host %s is the address %s: link-local, wildcard and multicast addresses are refused."
                            .formatted(host, address.getHostAddress()));
        }
    }

    public URI url() {
        return url;
    }

    /** What requests are signed with. */
    public String secret() {
        return secret;
    }

    public Duration timeout() {
        return timeout;
    }

    public int maxBytes() {
        return maxBytes;
    }

    public int failuresToOpen() {
        return failuresToOpen;
    }

    public Duration openFor() {
        return openFor;
    }

    /** Without the secret, and without the path, which may hold one. */
    @Override
    public String toString() {
        return "webhook to " + url.getScheme() + "://" + url.getAuthority();
    }
}
