// What TLS changes in the composition: the certificate of each listener, the sockets that our own processes use instead, and the addresses that
// people are given.
import { join } from "node:path";
import type { Configuration } from "../adapters/configuration/schema.ts";
import { createAlarms } from "../adapters/postgres/alarms.ts";
import type { CertificateFiles } from "../adapters/tls/certificate-pair.ts";
import { type KeptCertificate, keepCertificate } from "../adapters/tls/kept-certificate.ts";
import { type PeerSecurity, peerSecurity } from "../adapters/tls/peer-security.ts";
import { subjects } from "../contracts/src/subjects.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Store } from "../ports/store.ts";
import type { Timers } from "../ports/timers.ts";
import type { ServiceName } from "../services/shared/service.ts";
import type { PartInput, PartName, Stops } from "./shared.ts";

interface CertificatePorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly store: Store;
}

/** What a listener shows who connects; undefined where it speaks clear text. `owner` names it in alarms. */
export function certificateOf(
  { configuration: { tls } }: PartInput,
  ports: CertificatePorts,
  source: PartName,
  owner: string,
  stops: Stops,
): KeptCertificate | undefined {
  const files = source === "gateway" ? shownToPeople(tls) : (shownToPeers(tls) ?? shownToPeople(tls));
  if (files === undefined) return undefined;
  const alarms = createAlarms({ ...ports, subject: subjects.alarmRaised, source });
  const certificate = keepCertificate({ ...ports, ...files, alarms, owner });
  stops.push(async () => certificate.close());
  return certificate;
}

type Tls = Configuration["tls"];

function shownToPeople({ cert_file: certFile, key_file: keyFile }: Tls): CertificateFiles | undefined {
  return certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile };
}

function shownToPeers(tls: Tls): CertificateFiles | undefined {
  const { peer_cert_file: certFile, peer_key_file: keyFile, peer_ca_file: caFile } = tls;
  return certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile, caFile };
}

/** How this process speaks to services on other machines; undefined where that is not configured. */
export function peerSecurityOf(
  { configuration: { tls } }: PartInput,
  ports: CertificatePorts,
  source: PartName,
  stops: Stops,
): PeerSecurity | undefined {
  const files = shownToPeers(tls);
  if (files === undefined) return undefined;
  const alarms = createAlarms({ ...ports, subject: subjects.alarmRaised, source });
  const certificate = keepCertificate({ ...ports, ...files, alarms, owner: `${source} towards other machines` });
  stops.push(async () => certificate.close());
  return peerSecurity(certificate);
}

/** Whether other machines may reach this one without TLS. */
export function isOpenlyReached({ insecure, tls, services }: Configuration): boolean {
  const isEncrypted =
    shownToPeople(tls) !== undefined || (shownToPeers(tls) !== undefined && !services.includes("gateway"));
  return insecure && !isEncrypted;
}

/**
 * Where our own processes on this machine find a service whose port speaks TLS to everybody else: what does not leave the machine needs no
 * certificate, and whoever may open the socket is us.
 */
export function localSocket(name: ServiceName, { configuration, runtimeFolder }: PartInput): string | undefined {
  const { tls, services } = configuration;
  const isEncrypted = shownToPeople(tls) !== undefined || shownToPeers(tls) !== undefined;
  if (!isEncrypted || !services.includes(name)) return undefined;
  return join(runtimeFolder, `${name}.sock`);
}

export function localTarget(name: ServiceName, input: PartInput): string | undefined {
  const socket = localSocket(name, input);
  return socket === undefined ? undefined : `unix:${socket}`;
}

/** Where a service answers according to the configuration. */
export function rpcAddressOf({ configuration: { rpc } }: PartInput, name: string): string | undefined {
  const { insecure: _, ...addresses } = rpc;
  const configured: Readonly<Record<string, string | undefined>> = addresses;
  return configured[name];
}

/** Under which addresses people reach the two HTTP listeners. */
export function httpUrls(
  { http, tls }: Configuration,
  addresses: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const scheme = tls.cert_file === undefined ? "http" : "https";
  const { gateway, "gateway.public": open } = addresses;
  return {
    ...(gateway === undefined ? {} : { gateway: http.base_url?.replace(/\/$/, "") ?? `${scheme}://${gateway}` }),
    ...(open === undefined ? {} : { "gateway.public": `${scheme}://${open}` }),
  };
}
