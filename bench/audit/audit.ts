// What the audit log costs: durable appends beside the raw limit of the same bytes, verification beside raw hashing and beside a plain read, and proofs.
import { cpus, loadavg } from "node:os";
import type { RunningAudit } from "../../services/operations/audit/audit-ports.ts";
import type { Bench, BenchResult } from "../bench.ts";
import { type DatabasePlace, openDatabasePlace } from "../bus/place.ts";
import { requestOf } from "./append-requests.ts";
import { openAudit } from "./fixture.ts";
import { judge, type Seen } from "./judge.ts";
import { measureProofs } from "./proofs.ts";
import { openRawAppend } from "./raw-append.ts";
import { prepareBundle, prepareReading } from "./verifying.ts";

export interface AuditBenchOptions {
  /** Rounds of append windows; in each, the raw limit and every number of callers have one. */
  readonly appendRounds: number;
  readonly windowMs: number;
  readonly inFlight: readonly number[];
  /** Entries of a batch by hand: as many as ours writes at once with the most in flight. */
  readonly rawBatchEntries: number;
  readonly verifyRounds: number;
  readonly bundleEntries: number;
  readonly databaseEntries: number;
  readonly proofSizes: readonly number[];
  readonly proofsPerSize: number;
}

const standard: AuditBenchOptions = {
  appendRounds: 15,
  windowMs: 700,
  inFlight: [1, 16, 128, 1_024],
  rawBatchEntries: 512,
  verifyRounds: 15,
  bundleEntries: 50_000,
  databaseEntries: 50_000,
  proofSizes: [1_000, 100_000, 1_000_000],
  proofsPerSize: 200,
};

export const audit: Bench = {
  name: "audit",
  sentence:
    "Audit entries: durable appends, verification and proofs, beside the hashing and writing they cannot do without.",
  run: (progress) => runAudit(standard, progress),
};

/** The bench with windows of any size; whatever ends it, a signal included, leaves nothing behind. */
export async function runAudit(options: AuditBenchOptions, progress: (line: string) => void): Promise<BenchResult> {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort(new Error("it was interrupted"));
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of signals) process.on(name, interrupt);
  try {
    progress("starting PostgreSQL");
    const place = await openDatabasePlace();
    try {
      return judge(await measureAll(options, place, interruption.signal, progress));
    } finally {
      await place.close();
    }
  } finally {
    for (const name of signals) process.removeListener(name, interrupt);
  }
}

async function measureAll(
  options: AuditBenchOptions,
  place: DatabasePlace,
  signal: AbortSignal,
  progress: (line: string) => void,
): Promise<Seen> {
  progress("growing a tree and making proofs");
  const { proofSizes, proofsPerSize } = options;
  const proof = await measureProofs(await place.database("bench_audit_proof"), proofSizes, proofsPerSize, signal);
  const hashed = measureBundle(options, signal, progress);
  const address = await place.database("bench_audit");
  const fixture = await openAudit(address);
  try {
    const raw = await openRawAppend(address, options.rawBatchEntries);
    const appended = await measureAppends(fixture.audit, raw, options, signal, progress).finally(() => raw.close());
    const reading = await prepareReading(fixture.audit, address, options.databaseEntries);
    const verifyDatabase: number[] = [];
    const rawRead: number[] = [];
    try {
      for (let round = 0; round <= options.verifyRounds; round += 1) {
        signal.throwIfAborted();
        rawRead.push(await reading.raw());
        verifyDatabase.push(await reading.verify());
        progress(`database, round ${round}: read ${said(rawRead)}, verified ${said(verifyDatabase)}`);
      }
    } finally {
      await reading.close();
    }
    const facts = { ...place.facts, ...machine() };
    const read = { verifyDatabase: counted(verifyDatabase), rawRead: counted(rawRead) };
    return { ...appended, ...hashed, ...read, proof, entries: fixture.audit.status().size, facts };
  } finally {
    await fixture.close();
  }
}

async function measureAppends(
  log: RunningAudit,
  raw: { run(windowMs: number): Promise<number> },
  options: AuditBenchOptions,
  signal: AbortSignal,
  progress: (line: string) => void,
): Promise<Pick<Seen, "raw" | "appends">> {
  const limits: number[] = [];
  const rates = new Map<number, number[]>(options.inFlight.map((inFlight) => [inFlight, []]));
  const numbers = { next: 0 };
  for (let round = 0; round <= options.appendRounds; round += 1) {
    limits.push(await raw.run(options.windowMs));
    for (const [inFlight, seen] of rates) {
      signal.throwIfAborted();
      seen.push(await appendFor(log, inFlight, options.windowMs, numbers));
    }
    const ours = [...rates].map(([inFlight, seen]) => `${inFlight}: ${said(seen)}`).join(", ");
    progress(`appends, round ${round} of ${options.appendRounds}: raw ${said(limits)}; in flight ${ours}`);
  }
  return {
    raw: counted(limits),
    appends: new Map([...rates].map(([inFlight, seen]) => [inFlight, counted(seen)])),
  };
}

/** So many callers, each of which appends again as soon as its entry is durable. */
async function appendFor(
  log: RunningAudit,
  inFlight: number,
  windowMs: number,
  numbers: { next: number },
): Promise<number> {
  const [first, began] = [numbers.next, performance.now()];
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (performance.now() - began < windowMs) {
        const n = numbers.next;
        numbers.next += 1;
        await log.append(requestOf(n));
      }
    }),
  );
  return ((numbers.next - first) * 1_000) / (performance.now() - began);
}

function measureBundle(
  { bundleEntries, verifyRounds }: AuditBenchOptions,
  signal: AbortSignal,
  progress: (line: string) => void,
): Pick<Seen, "verifyBundle" | "rawHash"> {
  const hashing = prepareBundle(bundleEntries);
  const verifyBundle: number[] = [];
  const rawHash: number[] = [];
  for (let round = 0; round <= verifyRounds; round += 1) {
    signal.throwIfAborted();
    rawHash.push(hashing.raw());
    verifyBundle.push(hashing.verify());
    progress(`bundle, round ${round}: hashed ${said(rawHash)}, verified ${said(verifyBundle)}`);
  }
  return { verifyBundle: counted(verifyBundle), rawHash: counted(rawHash) };
}

/** The first window of each warms the compiler and the caches and is not counted. */
function counted(windows: readonly number[]): readonly number[] {
  return windows.slice(1);
}

function said(windows: readonly number[]): string {
  return `${Math.round(windows.at(-1) ?? 0)}/s`;
}

function machine() {
  return {
    node_version: process.versions.node,
    processor: cpus()[0]?.model ?? "unknown",
    core_count: cpus().length,
    load_average: loadavg().map((value) => Math.round(value * 100) / 100),
  };
}
