// How our own processes prove themselves to each other over TLS: each shows a certificate, and both must come from the authority that the
// installation names. New files count for the next connection, and connections that stand go on.
import { type ChannelCredentials, credentials, experimental } from "@grpc/grpc-js";
import type { KeptCertificate } from "./kept-certificate.ts";

export interface PeerSecurity {
  readonly credentials: ChannelCredentials;
}

type Provider = experimental.CertificateProvider;

/** What a process shows those on other machines, and whom it believes there. */
export function peerSecurity(certificate: KeptCertificate): PeerSecurity {
  const authority = listeners((pair) => ({ caCertificate: Buffer.from(pair.ca ?? "") }), certificate);
  const own = listeners(
    (pair) => ({ certificate: Buffer.from(pair.cert), privateKey: Buffer.from(pair.key) }),
    certificate,
  );
  const provider: Provider = {
    addCaCertificateListener: authority.add,
    removeCaCertificateListener: authority.remove,
    addIdentityCertificateListener: own.add,
    removeIdentityCertificateListener: own.remove,
  };
  return { credentials: experimental.createCertificateProviderChannelCredentials(provider, provider) };
}

/** Hands each what there is at once, and what comes later. */
function listeners<Update>(
  read: (pair: ReturnType<KeptCertificate["current"]>) => Update,
  certificate: KeptCertificate,
) {
  const hearing = new Set<(update: Update | null) => void>();
  certificate.onChange((pair) => {
    for (const hear of hearing) hear(read(pair));
  });
  return {
    add: (hear: (update: Update | null) => void): void => {
      hearing.add(hear);
      hear(read(certificate.current()));
    },
    remove: (hear: (update: Update | null) => void): void => void hearing.delete(hear),
  };
}

/** A unix socket never leaves the machine. */
export function peerCredentials(target: string, security: PeerSecurity | undefined): ChannelCredentials {
  return security === undefined || target.startsWith("unix:") ? credentials.createInsecure() : security.credentials;
}

const distrusts: readonly (readonly [RegExp, string])[] = [
  [/certificate has expired|CERT_HAS_EXPIRED/i, "shows a certificate that has run out"],
  [/altnames|ALTNAME_INVALID/i, "shows a certificate for another name than the one it is called by"],
  [/not yet valid/i, "shows a certificate that is not valid yet"],
  [
    /self[- ]signed|unable to (verify|get)|UNABLE_TO|SELF_SIGNED/i,
    "shows a certificate that does not come from the authority in tls.peer_ca_file",
  ],
  [
    /wrong version number|packet length too long|EPROTO/i,
    "speaks clear text where TLS was expected, or other rules of TLS",
  ],
];

/** What is wrong with the certificate of somebody whom we could not speak to, as far as the library says it. */
export function distrustIn(details: string): string | undefined {
  return distrusts.find(([form]) => form.test(details))?.[1];
}
