// What the paper broker and the paper market are made to suffer: shown, and changed for drills. Each setting replaces the one before, so an empty
// one makes a run without faults again. It is an entry of the audit log in the same transaction, because losses in it are not the market's.
import { Fault } from "../../contracts/src/fault.ts";
import type { PaperWeather as Wire } from "../../contracts/src/generated/svc/v1/platform.ts";
import { format } from "../../contracts/src/instant.ts";
import { type PaperWeather, paperFaults } from "../../contracts/src/records/fund.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { ServicePorts } from "../shared/service.ts";

type PaperFaultsPorts = Pick<ServicePorts, "clock" | "store" | "brokers" | "referenceData">;
type Call = Pick<RpcCall, "identity">;

interface PaperFaultsHandlers {
  getPaperWeather(): Promise<Wire | DeniedAnswer>;
  setPaperWeather(request: Wire, call: Call): Promise<Wire | DeniedAnswer>;
}

export function createPaperFaults(ports: PaperFaultsPorts): PaperFaultsHandlers {
  const isPaper = ports.brokers.some(({ name }) => name === "paper");
  const notPaper: DeniedAnswer = {
    denial: { code: "WEATHER_NOT_PAPER", reason: "No paper broker runs here, so there is no weather to set." },
  };
  return {
    async getPaperWeather() {
      if (!isPaper) return notPaper;
      const found = await ports.store.transact("oms.weather-read", (unit) => unit.paperFaults.lock());
      return wireOf(found);
    },
    async setPaperWeather(request, { identity }) {
      if (!isPaper) return notPaper;
      if (request.reason.trim() === "") return missingReason;
      const faults = readFaults(request, identity.actor, format(ports.clock.now()));
      await mustBeTraded(ports, faults);
      await ports.store.transact("oms.weather", async (unit) => {
        await unit.paperFaults.lock();
        await unit.paperFaults.put(faults);
        await unit.events.publish(subjects.paperFaults, faults);
      });
      return wireOf(faults);
    },
  };
}

const missingReason: DeniedAnswer = {
  denial: { code: "REASON_MISSING", reason: "The simulated faults are not changed without a reason." },
};

/** Faults for a symbol that nobody trades would look like a drill and be none. */
async function mustBeTraded({ referenceData }: PaperFaultsPorts, faults: PaperWeather): Promise<void> {
  const { gaps = [], news = [], informed = [], halted_symbols = [] } = faults;
  const named = [...[...gaps, ...news, ...informed].map(({ symbol }) => symbol), ...halted_symbols];
  if (named.length === 0) return;
  const { instruments } = await referenceData.read();
  const unknown = named.find((symbol) => !instruments.some((instrument) => instrument.symbol === symbol));
  if (unknown === undefined) return;
  throw new Fault("NOT_FOUND", `There is no instrument ${JSON.stringify(unknown)}.`, { retry: "never" });
}

function readFaults(request: Wire, actor: string, at: string): PaperWeather {
  const { broker_silent_until, report_loss_pct, report_repeat_pct, gaps, halted_symbols, news, informed, reason } =
    request;
  const read = paperFaults.safeParse({
    ...(broker_silent_until !== undefined && { broker_silent_until }),
    ...(report_loss_pct !== undefined && { report_loss_pct }),
    ...(report_repeat_pct !== undefined && { report_repeat_pct }),
    ...(gaps.length > 0 && { gaps: gaps.map(({ symbol, pct, from }) => ({ symbol, pct, from: from ?? at })) }),
    ...(news.length > 0 && { news: news.map(({ symbol, count, from }) => ({ symbol, count, from: from ?? at })) }),
    ...(informed.length > 0 && {
      informed: informed.map(({ symbol, side, from }) => ({ symbol, side, from: from ?? at })),
    }),
    ...(halted_symbols.length > 0 && { halted_symbols }),
    set_by: actor,
    reason,
    at,
  });
  if (read.success) return read.data;
  const [first] = read.error.issues;
  const where = first?.path.join(".") ?? "";
  throw new Fault(
    "INVALID_ARGUMENT",
    `These are no simulated faults: ${where} ${first?.message ?? "cannot be read"}.`,
    {
      retry: "never",
    },
  );
}

function wireOf(faults: PaperWeather | undefined): Wire {
  const { gaps = [], halted_symbols = [], news = [], informed = [], reason = "", ...rest } = faults ?? {};
  return { ...rest, gaps, halted_symbols, news, informed, reason };
}
