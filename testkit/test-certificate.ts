// A self-signed certificate for one host name, made on the spot: a private key has no place in a repository, and Node.js signs but
// makes no certificates. Just enough of DER for that.
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const size = body.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const time = (text: string) => der(0x18, Buffer.from(text));
const extension = (id: string, value: Uint8Array) => sequence(oid(id), der(0x04, value));
const pem = (body: Buffer) =>
  `-----BEGIN CERTIFICATE-----\n${body.toString("base64").replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`;

export function selfSigned(host: string): { readonly certificate: string; readonly key: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const algorithm = sequence(oid("2a8648ce3d040302"));
  // A common name of its own, so that two authorities are never taken for one.
  const commonName = sequence(oid("550403"), der(0x0c, Buffer.from(`test ${randomBytes(8).toString("hex")}`)));
  const name = sequence(der(0x31, commonName));
  const altName = sequence(der(0x82, Buffer.from(host)));
  const isAuthority = sequence(der(0x01, Buffer.from([0xff])));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    sequence(time("20000101000000Z"), time("21000101000000Z")),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(extension("551d11", altName), extension("551d13", isAuthority))),
  );
  const signature = sign("sha256", body, privateKey);
  return {
    certificate: pem(sequence(body, algorithm, der(0x03, Buffer.from([0]), signature))),
    key: privateKey.export({ type: "sec1", format: "pem" }).toString(),
  };
}
