// What is halted, for whoever asks. It is read from the store every time; when that cannot be read, the answer is that it is not known, which counts
// as halted, with what was known last.
import { Defect, Fault, messageOf } from "../../../contracts/src/fault.ts";
import type {
  ActiveHalts,
  HaltProgress,
  HaltStatus,
  HaltStatusRequest,
} from "../../../contracts/src/generated/svc/v1/halt.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../../contracts/src/records/halt.ts";
import { haltsAbout, haltsLiftedWith, isSet, restartsAfter } from "../../../core/halts/halts.ts";
import type { ProvenStep, StoredResume } from "../../../ports/halt-records.ts";
import { pendingFields, statusOf, strategies } from "../../halts/resume-workflow.ts";
import type { FundDirectory } from "../../shared/fund-directory.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { type HaltSteps, stepNames } from "./steps.ts";

interface HaltStatusOptions {
  readonly ports: Pick<ServicePorts, "store" | "riskStore" | "clock" | "log" | "referenceData" | "chat">;
  readonly funds: FundDirectory;
  readonly steps: Pick<HaltSteps, "open">;
}

interface HaltStatuses {
  getHaltStatus(request: HaltStatusRequest): Promise<HaltStatus>;
  listActiveHalts(): Promise<ActiveHalts>;
}

type About = Parameters<typeof haltsAbout>[1];
type Halts = { readonly epoch: number; readonly active: readonly ActiveHalt[] };

export function createHaltStatuses({ ports, funds, steps }: HaltStatusOptions): HaltStatuses {
  let known: Halts = { epoch: 0, active: [] };

  async function read(): Promise<Halts> {
    const halts = await ports.riskStore.halts();
    if (halts.epoch >= known.epoch) known = halts;
    return halts;
  }

  async function getHaltStatus(request: HaltStatusRequest): Promise<HaltStatus> {
    const at = ports.clock.now();
    try {
      const { fundId, about } = await findScope(request, funds);
      const { epoch, active } = await read();
      const halts = haltsAbout(active, about);
      const lifted = haltsLiftedWith(active, about === "everything" ? {} : about);
      const ids = halts.map(({ halt_id: id }) => id);
      const { proven, pending } = await ports.store.transact("halts.look", async (unit) => ({
        proven: await unit.halts.proven(ids),
        pending: await unit.halts.pendingResume(),
      }));
      return {
        ...statusOf(fundId, halts, epoch, at),
        ...waiting(about, pending, active, at),
        notified_by: ports.chat.name,
        progress: halts.map((halt) => progressOf(halt, proven)),
        restarts: [...restartsAfter(lifted, active, lifted.length === 0 ? [] : await strategies(ports))],
      };
    } catch (thrown) {
      if (thrown instanceof Defect || (thrown instanceof Fault && thrown.code === "NOT_FOUND")) throw thrown;
      ports.log.warn("halts cannot be read for whoever asks", { error: messageOf(thrown) });
      const halts = haltsAbout(known.active, lastKnown(request, funds));
      return { ...statusOf(request.fund_id, halts, known.epoch, at), halted: true, known: false };
    }
  }

  function progressOf({ halt_id: id }: ActiveHalt, proven: readonly ProvenStep[]): HaltProgress {
    return {
      halt_id: id,
      steps: stepNames.map((step) => {
        const proof = proven.find((one) => one.haltId === id && one.step === step);
        if (proof !== undefined) return { step, proven: true, at: format(proof.at), detail: proof.detail };
        const open = steps.open(id, step);
        return { step, proven: false, detail: open?.detail ?? "", ...(open && { at: format(open.at) }) };
      }),
    };
  }

  return {
    getHaltStatus,
    listActiveHalts: async () => ({
      halts: haltsAbout((await read()).active, "everything").map((halt) => {
        const waiting = steps.open(halt.halt_id, "CANCELLED")?.detail;
        return waiting === undefined ? halt : { ...halt, waiting_for: waiting };
      }),
    }),
  };
}

/** A request to lift everything is of interest to whoever asks about everything, as long as it can be signed. */
function waiting(
  about: About,
  pending: StoredResume | undefined,
  active: readonly ActiveHalt[],
  at: Instant,
): Partial<HaltStatus> {
  if (about !== "everything" || pending === undefined || pending.expiresAt <= at) return {};
  if (!isSet(pending.haltIds, haltsLiftedWith(active, {}))) return {};
  return pendingFields(pending);
}

async function findScope(
  { fund_id: fundId, strategy_id: strategyId = "" }: HaltStatusRequest,
  funds: FundDirectory,
): Promise<{ readonly fundId: string; readonly about: About }> {
  await funds.find(strategyId);
  await funds.find(fundId);
  if (strategyId !== "") {
    const owner = funds.fundOfStrategy(strategyId);
    if (owner === undefined) throw nobody("strategy", strategyId);
    return { fundId: owner.fund_id, about: { fundId: owner.fund_id, strategyId } };
  }
  if (fundId === "") return { fundId, about: "everything" };
  if (funds.fund(fundId) === undefined) throw nobody("fund", fundId);
  return { fundId, about: { fundId } };
}

function lastKnown({ fund_id: fundId, strategy_id: strategyId = "" }: HaltStatusRequest, funds: FundDirectory): About {
  if (strategyId !== "") return { fundId: funds.fundOfStrategy(strategyId)?.fund_id ?? fundId, strategyId };
  return fundId === "" ? "everything" : { fundId };
}

function nobody(what: string, id: string): Fault {
  return new Fault("NOT_FOUND", `There is no ${what} ${JSON.stringify(id.slice(0, 128))}.`, { retry: "never" });
}
