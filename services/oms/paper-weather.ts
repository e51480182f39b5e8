// What the paper broker and the paper market are made to suffer: shown, and changed for drills. Each setting replaces the one before, so an empty
// one makes fair weather again. It is an entry of the audit log in the same transaction, because losses in it are not the market's.
import { Fault } from "../../contracts/src/fault.ts";
import type { PaperWeather as Wire } from "../../contracts/src/generated/svc/v1/platform.ts";
import { format } from "../../contracts/src/instant.ts";
import { type PaperWeather, paperWeather } from "../../contracts/src/records/fund.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { DeniedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { ServicePorts } from "../shared/service.ts";

export type PaperWeatherPorts = Pick<ServicePorts, "clock" | "store" | "brokers" | "referenceData">;
type Call = Pick<RpcCall, "identity">;

export interface PaperWeatherHandlers {
  getPaperWeather(): Promise<Wire | DeniedAnswer>;
  setPaperWeather(request: Wire, call: Call): Promise<Wire | DeniedAnswer>;
}

export function createPaperWeather(ports: PaperWeatherPorts): PaperWeatherHandlers {
  const isPaper = ports.brokers.some(({ name }) => name === "paper");
  const notPaper: DeniedAnswer = {
    denial: { code: "WEATHER_NOT_PAPER", reason: "No paper broker runs here, so there is no weather to set." },
  };
  return {
    async getPaperWeather() {
      if (!isPaper) return notPaper;
      const found = await ports.store.transact("oms.weather-read", (unit) => unit.paperWeather.lock());
      return wireOf(found);
    },
    async setPaperWeather(request, { identity }) {
      if (!isPaper) return notPaper;
      if (request.reason.trim() === "") return missingReason;
      const weather = readWeather(request, identity.actor, format(ports.clock.now()));
      await mustBeTraded(ports, weather);
      await ports.store.transact("oms.weather", async (unit) => {
        await unit.paperWeather.lock();
        await unit.paperWeather.put(weather);
        await unit.events.publish(subjects.paperWeather, weather);
      });
      return wireOf(weather);
    },
  };
}

const missingReason: DeniedAnswer = {
  denial: { code: "REASON_MISSING", reason: "The weather is not changed without a reason." },
};

/** Weather for a symbol that nobody trades would look like a drill and be none. */
async function mustBeTraded({ referenceData }: PaperWeatherPorts, weather: PaperWeather): Promise<void> {
  const named = [...(weather.gaps ?? []).map(({ symbol }) => symbol), ...(weather.halted_symbols ?? [])];
  if (named.length === 0) return;
  const { instruments } = await referenceData.read();
  const unknown = named.find((symbol) => !instruments.some((instrument) => instrument.symbol === symbol));
  if (unknown === undefined) return;
  throw new Fault("NOT_FOUND", `There is no instrument ${JSON.stringify(unknown)}.`, { retry: "never" });
}

function readWeather(request: Wire, actor: string, at: string): PaperWeather {
  const { broker_silent_until, report_loss_pct, report_repeat_pct, gaps, halted_symbols, reason } = request;
  const read = paperWeather.safeParse({
    ...(broker_silent_until !== undefined && { broker_silent_until }),
    ...(report_loss_pct !== undefined && { report_loss_pct }),
    ...(report_repeat_pct !== undefined && { report_repeat_pct }),
    ...(gaps.length > 0 && { gaps: gaps.map(({ symbol, pct, from }) => ({ symbol, pct, from: from ?? at })) }),
    ...(halted_symbols.length > 0 && { halted_symbols }),
    set_by: actor,
    reason,
    at,
  });
  if (read.success) return read.data;
  const [first] = read.error.issues;
  const where = first?.path.join(".") ?? "";
  throw new Fault("INVALID_ARGUMENT", `This is no weather: ${where} ${first?.message ?? "cannot be read"}.`, {
    retry: "never",
  });
}

function wireOf(weather: PaperWeather | undefined): Wire {
  const { gaps = [], halted_symbols = [], reason = "", ...rest } = weather ?? {};
  return { ...rest, gaps, halted_symbols, reason };
}
