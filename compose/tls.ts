// What TLS changes in the composition: the certificate of each listener, the sockets that our own processes use instead, and the addresses that
// people are given.
import { join } from "node:path";
import type { Configuration } from "../adapters/configuration/schema.ts";
import { createAlarms } from "../adapters/postgres/alarms.ts";
import { type KeptCertificate, keepCertificate } from "../adapters/tls/kept-certificate.ts";
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
  if (tls.cert_file === undefined || tls.key_file === undefined) return undefined;
  const alarms = createAlarms({ ...ports, subject: subjects.alarmRaised, source });
  const files = { certFile: tls.cert_file, keyFile: tls.key_file };
  const certificate = keepCertificate({ ...ports, ...files, alarms, owner });
  stops.push(async () => certificate.close());
  return certificate;
}

/** Whether other machines may reach this one without TLS. */
export function isOpenlyReached({ insecure, tls }: Configuration): boolean {
  return insecure && tls.cert_file === undefined;
}

/**
 * Where our own processes on this machine find a service whose port speaks TLS to everybody else: what does not leave the machine needs no
 * certificate, and whoever may open the socket is us.
 */
export function localSocket(name: ServiceName, { configuration, runtimeFolder }: PartInput): string | undefined {
  const { tls, services } = configuration;
  if (tls.cert_file === undefined || !services.includes(name)) return undefined;
  return join(runtimeFolder, `${name}.sock`);
}

export function localTarget(name: ServiceName, input: PartInput): string | undefined {
  const socket = localSocket(name, input);
  return socket === undefined ? undefined : `unix:${socket}`;
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
