// A fund's limits, read and changed. A change is a new version in one unit of work that keeps halts and versions still meanwhile, so no
// limit is loosened in a halt and no two people overwrite each other; the engine takes it over when it is durable.
import type { Denial } from "../../contracts/src/codes.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type {
  RiskEnvelope as EnvelopeMessage,
  EnvelopeRequest,
} from "../../contracts/src/generated/svc/v1/envelope.ts";
import { format } from "../../contracts/src/instant.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { FundReference } from "../../contracts/src/records/reference.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Engine } from "../../core/engine/engine.ts";
import {
  compileEnvelope,
  envelopeChanges,
  envelopeHashText,
  envelopeMessage,
  readEnvelope,
} from "../../core/envelope/envelope.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { Attempt, Attempts } from "../shared/attempts.ts";
import { startLoop } from "../shared/loop.ts";
import { line } from "../shared/one-line.ts";
import type { ServicePorts } from "../shared/service.ts";
import { transactToKnownEnd } from "../shared/unknown-outcome.ts";
import { proveLoosening } from "./envelope-proof.ts";
import type { ReferenceWatch } from "./reference-watch.ts";

/** Reading all again takes time that checks need: seldom, and more seldom the more there are. */
const readAgainMs = { min: 5_000, perEnvelope: 10 };
const eventsMax = 1_000;

interface EnvelopesOptions {
  readonly ports: Pick<ServicePorts, "store" | "riskStore" | "bus" | "timers" | "clock" | "log" | "crash" | "sha256">;
  readonly engine: Engine;
  readonly attempts: Attempts;
  readonly reference: Pick<ReferenceWatch, "fund" | "sectors">;
}

export interface Envelopes {
  getEnvelope(request: EnvelopeRequest): Promise<EnvelopeMessage>;
  updateEnvelope(message: EnvelopeMessage, call: RpcCall): Promise<EnvelopeMessage | DeniedAnswer>;
  /** As far as is known here. */
  current(fundId: string): RiskEnvelope | undefined;
  /** Called for every fund that has one, and again right after the engine has taken a new version. */
  onTaken(listener: (fundId: string) => void): void;
  /** Something may have changed elsewhere: all are read again after a while. Cheap, and called with every commit. */
  readAgain(): void;
  stop(): Promise<void>;
}

interface Change {
  readonly message: EnvelopeMessage;
  readonly next: RiskEnvelope;
  readonly fund: FundReference;
  readonly attempt: Attempt;
  readonly proof: string | undefined;
}

/** Resolves when the engine has the newest version of each. */
export async function createEnvelopes({ ports, engine, attempts, reference }: EnvelopesOptions): Promise<Envelopes> {
  const current = new Map<string, RiskEnvelope>();
  const listeners: ((fundId: string) => void)[] = [];
  let isWanted = false;

  function adopt(record: RiskEnvelope): void {
    const before = current.get(record.fund_id);
    if (before !== undefined && before.version >= record.version) return;
    current.set(record.fund_id, record);
    engine.setEnvelope(compileEnvelope(record));
    for (const listener of listeners) listener(record.fund_id);
  }

  async function readAll(): Promise<void> {
    for (const record of await ports.riskStore.envelopes()) adopt(record);
  }

  async function updateEnvelope(message: EnvelopeMessage, { identity, stepUpProof }: RpcCall) {
    const attempt: Attempt = {
      identity,
      verb: "UpdateEnvelope",
      target: message.fund_id,
      reason: message.reason ?? "",
    };
    const read = readEnvelope(message);
    if ("code" in read) return attempts.refused(attempt, read);
    const fund = reference.fund(read.record.fund_id);
    if (fund === undefined) {
      const reason = `There is no fund ${JSON.stringify(read.record.fund_id)}.`;
      return attempts.refused(attempt, { code: "ENVELOPE_INVALID", reason });
    }
    const written = await transactToKnownEnd(ports, "risk.envelope", (unit) =>
      change(unit, { message, next: read.record, fund, attempt, proof: stepUpProof }),
    );
    if ("code" in written) return attempts.refused(attempt, written);
    adopt(written);
    return envelopeMessage(written);
  }

  async function change(unit: UnitOfWork, { message, next, fund, attempt, proof }: Change) {
    const { active } = await unit.risk.lockHalts();
    const before = await unit.risk.lockEnvelope(next.fund_id);
    const denial =
      versionConflict(before, next, proof) ??
      unknownSector(before, next, reference.sectors()) ??
      looseningDuringHalt(before, next, active, fund);
    if (denial !== undefined) return denial;
    const { identity, reason } = attempt;
    const asked = { message, before, next, identity, reason, proof, at: ports.clock.now() };
    const loosening = await proveLoosening(unit, asked);
    if (loosening !== undefined && "code" in loosening) return loosening;
    const record = signed(loosening === undefined ? next : { ...next, loosening }, attempt);
    await unit.risk.putEnvelope(record);
    await unit.events.publish(subjects.envelopeUpdated, record);
    await attempts.allowed(unit, attempt);
    return record;
  }

  /** Who, when and why are ours to say, and the hash covers them. */
  function signed(asked: RiskEnvelope, { identity, reason }: Attempt): RiskEnvelope {
    const { hash: _, ...fields } = asked;
    const record: RiskEnvelope = {
      ...fields,
      updated_by: identity.actor,
      updated_at: format(ports.clock.now()),
      ...(reason === "" ? {} : { reason: line(reason, 2_000) }),
    };
    return { ...record, hash: hexOf(ports.sha256(envelopeHashText(record))) };
  }

  // Whoever changes one says so; reading all again is for the word that was lost.
  const hearing = await ports.bus.listen(
    { subjects: [subjects.envelopeUpdated.name], queueMax: eventsMax, overflow: "keep-newest-per-key" },
    async (event) => adopt(event.payload as RiskEnvelope),
  );
  await readAll();
  const loop = startLoop({
    ports,
    what: { failing: "envelopes cannot be read again", working: "envelopes can be read again" },
    async run() {
      isWanted = false;
      await readAll();
      return undefined;
    },
  });
  return {
    async getEnvelope({ fund_id: fundId }) {
      const record = current.get(fundId);
      if (record === undefined) throw noEnvelope(fundId);
      return envelopeMessage(record);
    },
    updateEnvelope,
    current: (fundId) => current.get(fundId),
    onTaken(listener) {
      listeners.push(listener);
      for (const fundId of current.keys()) listener(fundId);
    },
    readAgain() {
      if (isWanted) return;
      isWanted = true;
      loop.hurry(Math.max(readAgainMs.min, current.size * readAgainMs.perEnvelope));
    },
    stop: async () => {
      await hearing.close();
      await loop.stop();
    },
  };
}

/** A proof is for one version, so it is not used up and opens no other one. */
function versionConflict(
  before: RiskEnvelope | undefined,
  next: RiskEnvelope,
  proof: string | undefined,
): Denial | undefined {
  const expected = (before?.version ?? 0) + 1;
  if (next.version === expected) return undefined;
  const again =
    proof === undefined ? "" : " The proof is for this version: prove your second factor again for the next one.";
  const reason = `The version is ${next.version}; the next one of ${next.fund_id} is ${expected}.${again}`;
  return { code: "ENVELOPE_VERSION_CONFLICT", reason };
}

/** A limit for a sector that no instrument has reads as protection and limits nothing. One that stands already blocks no other change. */
function unknownSector(
  before: RiskEnvelope | undefined,
  next: RiskEnvelope,
  sectors: readonly string[],
): Denial | undefined {
  const standing = Object.keys(before?.sector_limits_pct ?? {});
  const unknown = Object.keys(next.sector_limits_pct).filter(
    (name) => !standing.includes(name) && !sectors.includes(name),
  );
  if (unknown.length === 0) return undefined;
  const names = unknown.map((name) => line(JSON.stringify(name), 200)).join(", ");
  const known = sectors.length === 0 ? "No instrument has a sector" : `There are: ${sectors.join(", ")}`;
  const reason = `No instrument is in the sector ${names}, so a limit for it would limit nothing. ${known}.`;
  return { code: "ENVELOPE_INVALID", reason };
}

/** As many fields as an answer names. */
const loosensMax = 20;

function looseningDuringHalt(
  before: RiskEnvelope | undefined,
  next: RiskEnvelope,
  active: readonly ActiveHalt[],
  fund: FundReference,
): Denial | undefined {
  const halt = active.find((each) => concerns(each, fund));
  if (halt === undefined) return undefined;
  const loosened = envelopeChanges(before, next).filter(({ effect }) => effect === "LOOSENS");
  if (loosened.length === 0) return undefined;
  const fields = loosened.map(({ field }) => field);
  const scope = halt.strategy_id ?? halt.fund_id;
  const reason = `It loosens ${fields.join(", ")} while ${halt.severity}${scope === "" ? "" : ` of ${scope}`} (${halt.halt_id}) is in force.`;
  return { code: "LOOSENING_DURING_HALT", reason, loosens: fields.slice(0, loosensMax) };
}

/** A halt of the firm, of the fund, or of any strategy that trades for it. */
function concerns(halt: ActiveHalt, fund: FundReference): boolean {
  if (halt.severity === "FIRM_HALT" || halt.fund_id === fund.fund_id) return true;
  return halt.strategy_id !== undefined && fund.strategies.includes(halt.strategy_id);
}

function noEnvelope(fundId: string): Fault {
  return new Fault("NOT_FOUND", `The fund ${JSON.stringify(line(fundId, 128))} has no envelope.`, { retry: "never" });
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
