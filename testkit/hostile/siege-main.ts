// All strangers' attacks at once, as a process of its own with the least claim to the machine's time: `npx tsx testkit/hostile/siege-main.ts JSON`. It prints
// how often each was cut or answered once a second, and ends with its standard input.
import { setPriority } from "node:os";
import { besiege, floodFrames, rapidResets, type Siege, unreadSchemas } from "./siege.ts";
import {
  beginnings,
  deviceFlood,
  documents,
  logInFlood,
  longPaths,
  viewersBodies,
  widestBodies,
} from "./siege-doors.ts";
import { type AttackName, attackNames, type SiegeTargets } from "./start-siege.ts";

setPriority(19);
const { riskengine, operations, gateway, viewer, kinds } = JSON.parse(process.argv[2] ?? "{}") as SiegeTargets;
const url = `http://${gateway}`;

const attacks: Readonly<Record<AttackName, () => Siege>> = {
  "idle riskengine": () => besiege(riskengine, 512, "HTTP/2"),
  "idle operations": () => besiege(operations, 512, "HTTP/2"),
  "idle gateway": () => besiege(gateway, 1_024, "HTTP/1.1"),
  "frames riskengine": () => floodFrames(riskengine, 4),
  "frames operations": () => floodFrames(operations, 4),
  "reflection riskengine": () => unreadSchemas(riskengine, 4),
  "reflection operations": () => unreadSchemas(operations, 4),
  "resets riskengine": () => rapidResets(riskengine, 4),
  "resets operations": () => rapidResets(operations, 4),
  paths: () => longPaths(url, 4),
  documents: () => documents(url, 100),
  "widest bodies": () => widestBodies(url, 8, viewer, viewersBodies()),
  devices: () => deviceFlood(url, 20),
  "log-ins": () => logInFlood(url, 20),
  beginnings: () => beginnings(url, 20),
};

const running = (kinds ?? attackNames).map((name) => [name, attacks[name]()] as const);

setInterval(() => {
  const counts = Object.fromEntries(running.map(([name, siege]) => [name, siege.count()]));
  process.stdout.write(`${JSON.stringify({ counts, cpuMs: process.cpuUsage().user / 1_000 })}\n`);
}, 1_000);

process.stdin.resume().once("end", () => process.exit(0));
