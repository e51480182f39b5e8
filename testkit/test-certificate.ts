// Certificates made on the spot: a private key has no place in a repository, and Node.js signs but makes no certificates. Just enough of
// DER for an authority and for what it signs, with names, addresses and dates as a test wants them.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { isIPv4 } from "node:net";
import { join } from "node:path";

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const size = body.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const time = (at: Date) => der(0x18, Buffer.from(`${at.toISOString().replace(/[-T:]|\.\d+Z$/g, "")}Z`));
const extension = (id: string, value: Uint8Array) => sequence(oid(id), der(0x04, value));
const pem = (body: Buffer) =>
  `-----BEGIN CERTIFICATE-----\n${body.toString("base64").replace(/.{1,64}/g, "$&\n")}-----END CERTIFICATE-----\n`;

export interface MadeCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface MadeAuthority extends MadeCertificate {
  /** A certificate for these names and IPv4 addresses. */
  issue(hosts: readonly string[], valid?: Validity): MadeCertificate;
}

export interface Validity {
  readonly from?: Date;
  readonly to?: Date;
}

interface Subject {
  readonly name: Buffer;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const always = { from: new Date("2000-01-01T00:00:00Z"), to: new Date("2100-01-01T00:00:00Z") };

/** A common name of its own, so that two authorities are never taken for one. */
function newSubject(): Subject {
  const commonName = sequence(oid("550403"), der(0x0c, Buffer.from(`test ${randomBytes(8).toString("hex")}`)));
  return { name: sequence(der(0x31, commonName)), ...generateKeyPairSync("ec", { namedCurve: "prime256v1" }) };
}

function signed(subject: Subject, issuer: Subject, hosts: readonly string[], isAuthority: boolean, valid: Validity) {
  const algorithm = sequence(oid("2a8648ce3d040302"));
  const names = hosts.map((host) =>
    isIPv4(host) ? der(0x87, Buffer.from(host.split(".").map(Number))) : der(0x82, Buffer.from(host)),
  );
  const constraint = sequence(...(isAuthority ? [der(0x01, Buffer.from([0xff]))] : []));
  const extensions = [
    ...(names.length === 0 ? [] : [extension("551d11", sequence(...names))]),
    extension("551d13", constraint),
  ];
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    issuer.name,
    sequence(time(valid.from ?? always.from), time(valid.to ?? always.to)),
    subject.name,
    subject.publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", body, issuer.privateKey);
  return {
    certificate: pem(sequence(body, algorithm, der(0x03, Buffer.from([0]), signature))),
    key: subject.privateKey.export({ type: "sec1", format: "pem" }).toString(),
  };
}

/** A certificate that vouches for itself, for one host name. */
export function selfSigned(host: string, valid: Validity = {}): MadeCertificate {
  const subject = newSubject();
  return signed(subject, subject, [host], true, valid);
}

export function newAuthority(): MadeAuthority {
  const subject = newSubject();
  return {
    ...signed(subject, subject, [], true, {}),
    issue: (hosts, valid = {}) => signed(newSubject(), subject, hosts, false, valid),
  };
}

/** Writes a pair as an administrator would; the paths of both files. */
export function writePair(folder: string, name: string, { certificate, key }: MadeCertificate) {
  const certFile = join(folder, `${name}.crt`);
  const keyFile = join(folder, `${name}.key`);
  writeFileSync(certFile, certificate);
  writeFileSync(keyFile, key, { mode: 0o600 });
  return { certFile, keyFile };
}
