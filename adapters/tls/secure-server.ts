// What a listener needs to speak TLS: the settings of its server, a certificate that is replaced while it runs, and places that are taken before
// the handshake begins, so that whoever never ends one is counted and cut like everybody who says nothing.
import { constants } from "node:crypto";
import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import type { SecureContextOptions, Server, TLSSocket, TlsOptions } from "node:tls";
import type { ConnectionRoom } from "../listener/connection-limit.ts";
import { type CertificatePair, secureOptionsOf } from "./certificate-pair.ts";
import type { KeptCertificate } from "./kept-certificate.ts";

/** Nobody may make us begin a handshake again on a connection that has one. */
function contextOf(pair: CertificatePair): SecureContextOptions {
  return { ...secureOptionsOf(pair), secureOptions: constants.SSL_OP_NO_RENEGOTIATION, honorCipherOrder: true };
}

/** Who connects may show a certificate where there is an authority for it; whether it needs one is decided call by call. */
export function serverOptions(
  certificate: KeptCertificate,
  { protocols, handshakeMsMax }: { readonly protocols: string[]; readonly handshakeMsMax: number },
): TlsOptions {
  const pair = certificate.current();
  return {
    ...contextOf(pair),
    ALPNProtocols: protocols,
    requestCert: pair.ca !== undefined,
    rejectUnauthorized: false,
    handshakeTimeout: handshakeMsMax,
  };
}

/** A new certificate counts for every connection that begins after it. */
export function renewOn(server: Pick<Server, "setSecureContext">, certificate: KeptCertificate): void {
  certificate.onChange((pair) => server.setSecureContext(contextOf(pair)));
}

/** Takes a place for each connection when it comes, and hands it over when its handshake is done. */
export function takePlaces(
  server: EventEmitter,
  room: Pick<ConnectionRoom, "admit" | "replace">,
  welcome: (socket: TLSSocket) => void = () => undefined,
): void {
  // The server reports both and never says that they belong together, so they are found by who speaks to whom.
  const opening = new Map<string, Socket>();
  server.on("connection", (raw: Socket) => {
    const ends = endsOf(raw);
    if (!room.admit(raw)) return;
    opening.set(ends, raw);
    raw.once("close", () => {
      if (opening.get(ends) === raw) opening.delete(ends);
    });
  });
  server.on("secureConnection", (secured: TLSSocket) => {
    const ends = endsOf(secured);
    const raw = opening.get(ends);
    opening.delete(ends);
    if (raw === undefined) return void secured.destroy();
    room.replace(raw, secured);
    if (!secured.destroyed) welcome(secured);
  });
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

/** Whether this is how a handshake went wrong: nobody can be answered then. */
export function isHandshakeError(error: Error): boolean {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return /^ERR_(SSL|TLS)_|^EPROTO$/.test(code);
}
