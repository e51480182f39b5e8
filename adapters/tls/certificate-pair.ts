// A certificate and its private key from two files, and everything that can be wrong with them, said before anybody connects.
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { fromUnixMs, type Instant } from "../../contracts/src/instant.ts";
import { readPrivateFile } from "../system/private-file.ts";

export interface CertificateFiles {
  /** The certificate as PEM, followed by those between it and its authority. */
  readonly certFile: string;
  /** Its private key as PEM, without a passphrase; only its owner may read the file. */
  readonly keyFile: string;
  /** The authorities, as PEM, from which the other side's certificate must come. */
  readonly caFile?: string | undefined;
}

export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
  readonly ca: string | undefined;
  readonly validFrom: Instant;
  readonly expiresAt: Instant;
}

const authorities = "The file of certificate authorities";

/** With TLS 1.2 only what keeps recorded traffic closed after a key was lost, and cannot be changed on the way. */
const ciphers = [
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "TLS_AES_128_GCM_SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
].join(":");

/** What every TLS connection of ours, on either side, is made with. */
export function secureOptionsOf({ cert, key, ca }: Pick<CertificatePair, "cert" | "key" | "ca">): SecureContextOptions {
  return { cert, key, minVersion: "TLSv1.2", ciphers, ...(ca === undefined ? {} : { ca }) };
}

/** What stands in the files, unread. */
export type CertificateTexts = Pick<CertificatePair, "cert" | "key" | "ca">;

export function readTexts({ certFile, keyFile, caFile }: CertificateFiles): CertificateTexts {
  return {
    cert: readPublic(certFile, "The certificate file"),
    key: readPrivateFile(keyFile, "The key file", "CONFIGURATION_INVALID"),
    ca: caFile === undefined ? undefined : readPublic(caFile, authorities),
  };
}

/** The pair in these texts; what has run out is taken all the same, because whoever serves it says so in its health. */
export function pairOf({ cert, key, ca }: CertificateTexts, files: CertificateFiles): CertificatePair {
  const leaf = certificateIn(cert, files.certFile, "The certificate file");
  if (!leaf.checkPrivateKey(keyIn(key, files.keyFile))) {
    throw refused(`The certificate in ${files.certFile} and the key in ${files.keyFile} do not belong together.`);
  }
  if (ca !== undefined) certificateIn(ca, files.caFile ?? "", authorities);
  try {
    createSecureContext(secureOptionsOf({ cert, key, ca }));
  } catch (cause) {
    throw refused(`The certificate in ${files.certFile} cannot be used: ${messageOf(cause)}.`, cause);
  }
  const at = (text: string): Instant => fromUnixMs(Date.parse(text));
  return { cert, key, ca, validFrom: at(leaf.validFrom), expiresAt: at(leaf.validTo) };
}

function readPublic(path: string, what: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw refused(`${what} ${path} cannot be read: ${messageOf(cause)}.`, cause);
  }
}

function certificateIn(text: string, path: string, what: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (cause) {
    throw refused(`${what} ${path} holds no certificate as PEM.`, cause);
  }
}

function keyIn(text: string, path: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    // The library's complaint might repeat what it read.
    throw refused(`The key file ${path} holds no private key as PEM without a passphrase.`);
  }
}

function refused(sentence: string, cause?: unknown): Fault {
  return new Fault("CONFIGURATION_INVALID", sentence, { retry: "never", ...(cause === undefined ? {} : { cause }) });
}
