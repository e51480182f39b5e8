// What a newcomer sees when everything is up: the addresses, where the data lives, and three commands to try.
import { join } from "node:path";
import { serverOf } from "../adapters/configuration/value-forms.ts";
import type { Foundation } from "./foundation.ts";

interface BannerFacts {
  readonly addresses: Readonly<Record<string, string>>;
  /** Under which addresses people reach the HTTP listeners. */
  readonly urls: Readonly<Record<string, string>>;
  readonly foundation: Foundation;
  /** The NATS address, which may hold credentials, or undefined when the bus runs over the database. */
  readonly busUrl: string | undefined;
  readonly tookMs: number;
  /** Whether the development operators exist here. */
  readonly developmentLogin: boolean;
  /** Whether it is allowed to listen beyond this machine without TLS. */
  readonly isInsecure: boolean;
  /** Why all services use the database as one login; undefined when each has its own. */
  readonly oneLogin: string | undefined;
  /** What anybody can do on the bus; undefined when nobody can. */
  readonly openBus: string | undefined;
  /** The keys that allow clear text to other machines, of connections that use it. */
  readonly clearText: readonly string[];
}

export function banner(facts: BannerFacts): string {
  const { urls, foundation, tookMs, developmentLogin, isInsecure, clearText, oneLogin, openBus } = facts;
  const lines = [`Portcullis is up (${(tookMs / 1_000).toFixed(1)} s). Ctrl-C stops it.`, ""];
  for (const [label, value] of places(facts)) lines.push(`  ${label.padEnd(16)}${value}`);
  if (oneLogin !== undefined) lines.push(...oneLoginLines(oneLogin));
  if (isInsecure)
    lines.push(`  ${"insecure".padEnd(16)}may be reached from other machines without TLS (insecure: true)`);
  if (openBus !== undefined) lines.push(`  ${"open bus".padEnd(16)}${openBus}`);
  for (const key of clearText)
    lines.push(`  ${"insecure".padEnd(16)}speaks to another machine in clear text (${key}: true)`);
  const operator = urls["gateway"];
  if (operator !== undefined) {
    lines.push(
      "",
      "Try next, in another terminal:",
      ...tryNext(operator, developmentLogin, foundation.dataFolder),
      `  curl -s ${operator}/v1/healthz`,
    );
  }
  return `\n${lines.join("\n")}\n\n`;
}

/** What an administrator would run stands under it. */
function oneLoginLines(reason: string): readonly string[] {
  const [why = "", ...rest] = reason.split("\n");
  return [
    `  ${"one login".padEnd(16)}all services use the database as one login; production refuses that. ${why}`,
    ...rest,
  ];
}

/** The command line looks at port 8080 and in .portcullis by itself; of another place it must be told. */
function tryNext(operator: string, developmentLogin: boolean, dataFolder: string): readonly string[] {
  const url = operator === "http://127.0.0.1:8080" ? "" : `PORTCULLIS_URL=${operator} `;
  const data = dataFolder === join(process.cwd(), ".portcullis") ? "" : `PORTCULLIS_DATA_DIR=${dataFolder} `;
  const login = developmentLogin ? `${data}${url}npx ctl auth login --dev duty` : `${url}npx ctl auth login`;
  return [`  ${login}`, `  ${url}npx ctl doctor`];
}

function places({ addresses, urls, foundation, busUrl }: BannerFacts): readonly (readonly [string, string])[] {
  const known: readonly (readonly [string, string | undefined])[] = [
    ["operators", urls["gateway"]],
    ["public", urls["gateway.public"]],
    ["risk engine", grpc(addresses["riskengine"])],
    ["operations", grpc(addresses["operations"])],
    ["oms", grpc(addresses["oms"])],
    ["treasury", grpc(addresses["treasury"])],
    ["research", grpc(addresses["research"])],
    ["data", foundation.dataFolder],
    ["database", databaseLine(foundation)],
    ["kept in", elsewhere(foundation)],
    ["bus", busUrl === undefined ? "over PostgreSQL" : `NATS ${serverOf(busUrl)}`],
  ];
  return known.flatMap(([label, value]) => (value === undefined ? [] : [[label, value] as const]));
}

/** Unix sockets are for the platform's own processes; run.json has them. */
const grpc = (address: string | undefined) =>
  address === undefined || address.startsWith("unix:") ? undefined : `gRPC ${address}`;

function databaseLine(foundation: Foundation): string {
  const server = foundation.embedded();
  return server === undefined ? foundation.database.description : `PostgreSQL, embedded, as user ${server.userName}`;
}

/** Where the database lies when its user cannot enter the data folder. */
function elsewhere(foundation: Foundation): string | undefined {
  const places = foundation.embedded()?.places;
  return places?.outsideDataFolder === true ? places.clusterFolder : undefined;
}
