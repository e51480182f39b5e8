// Treasury's shell: the funds, their cash and their value, and the reference data that everybody trades by. Fills move what is held;
// once a second what is held is valued at the newest marks and published.
import * as decimal from "../../contracts/src/decimal.ts";
import type {
  BookCorporateActionRequest,
  BookFlowRequest,
  CorporateAction,
  ListLedgerRequest,
  RebuildLedgerRequest,
} from "../../contracts/src/generated/svc/v1/platform.ts";
import type { Mark } from "../../contracts/src/records/market.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Subscription } from "../../ports/bus.ts";
import type { DeniedAnswer, RpcCall, RpcService } from "../../ports/rpc.ts";
import { oneAtATime } from "../reference/one-at-a-time.ts";
import { referenceFunds, referenceProcedures } from "../reference/reference-procedures.ts";
import { type ReferenceReader, referenceReader } from "../reference/reference-view.ts";
import { type Loop, startLoop } from "../shared/loop.ts";
import { createNewestMarks, type NewestMarks } from "../shared/newest-marks.ts";
import { type Parts, startParts } from "../shared/parts.ts";
import { type FollowedSources, followPriceSources } from "../shared/price-sources.ts";
import type { Service, ServicePorts } from "../shared/service.ts";
import { createBorrowAccrual } from "./accrue-borrow.ts";
import { announceAction } from "./announce-action.ts";
import { bookDividend } from "./book-dividend.ts";
import { bookFill, bookFills } from "./book-fills.ts";
import { bookFlow } from "./book-flow.ts";
import { listLedger } from "./list-ledger.ts";
import { keepPaperFresh } from "./paper-feed.ts";
import { payDividends } from "./pay-dividends.ts";
import { createValuer, type Valuer } from "./publish-values.ts";
import { rebuildLedger } from "./rebuild-ledger.ts";
import { seedHistory } from "./seed-history.ts";
import { seedTreasury } from "./seed-treasury.ts";
import { createThinner } from "./thin-navs.ts";
import type { Price } from "./valuation.ts";
import { createWaitingFills, type WaitingFills } from "./waiting-fills.ts";

const valueEveryMs = 1_000;
/** Marks that may wait to be heard; newer ones of the same symbol take the place of older ones. */
const marksQueueMax = 10_000;

export const treasury: Service = {
  name: "treasury",
  sentence: "Owns the funds, their cash and their net asset value.",
  needs: ["operations"],
  start: (ports) => startParts(ports, (parts) => assemble(ports, parts)),
};

async function assemble(ports: ServicePorts, parts: Parts) {
  await seedTreasury(ports);
  const reader = referenceReader(ports.referenceData);
  await reader.refresh();
  const valuer = await createValuer(ports);
  const sources = await followPriceSources(ports);
  const prices = createNewestMarks<Price>(({ price }, at) => ({ price: decimal.parse(price), at }), sources);
  parts.add("marks", await hearMarks(ports, reader, sources, prices));
  const waiting = createWaitingFills(ports, bookFill);
  // What waits since before this start keeps its fund waiting from the first fill on.
  await waiting.retry(reader.current());
  parts.add("fills", await bookFills(ports, reader, waiting));
  parts.add("valuing", keepValuing(ports, reader, { valuer, waiting }, prices));
  parts.add("seeded history", seedHistory(ports, reader));
  return { rpc: [procedures(ports, reader, valuer)], health: () => ({ status: "ok" as const }) };
}

/** Keeps the newest price of every instrument that there is; what nobody lists is not kept, so the map stays bounded. */
function hearMarks(
  { bus, clock }: ServicePorts,
  reader: ReferenceReader,
  sources: Pick<FollowedSources, "look">,
  prices: NewestMarks<Price>,
): Promise<Subscription> {
  const options = {
    subjects: [subjects.marketMarks.name],
    queueMax: marksQueueMax,
    overflow: "keep-newest-per-key",
  } as const;
  return bus.listen(options, async (event) => {
    const mark = event.payload as Mark;
    if (!reader.current().instruments.has(mark.symbol)) return;
    await sources.look(mark);
    prices.hear(mark, clock.now());
  });
}

function keepValuing(
  ports: ServicePorts,
  reader: ReferenceReader,
  { valuer, waiting }: { readonly valuer: Valuer; readonly waiting: WaitingFills },
  prices: NewestMarks<Price>,
): Loop {
  const borrow = createBorrowAccrual(ports);
  const thinner = createThinner(ports);

  async function run(): Promise<number> {
    const view = await reader.refresh();
    for (const symbol of [...prices.paper.keys(), ...prices.live.keys()]) {
      if (!view.instruments.has(symbol)) prices.forget(symbol);
    }
    await keepPaperFresh(ports, view);
    await waiting.retry(view);
    // A day's fees are in the first value after it. Only PAPER funds are valued here.
    await borrow.accrue(view, prices.paper);
    await payDividends(ports, view);
    await valuer.publish(view, prices.paper);
    await thinner.thin();
    return valueEveryMs;
  }

  const what = { failing: "the funds cannot be valued", working: "the funds can be valued again" };
  return startLoop({ ports, what, firstAfterMs: 0, run, troubleMsMax: valueEveryMs });
}

function procedures(ports: ServicePorts, reader: ReferenceReader, valuer: Valuer): RpcService {
  const setting = oneAtATime();
  return {
    name: "Treasury",
    handlers: {
      ...referenceProcedures({ ports, reader, newestOwn: valuer.newest, setting }),
      ListLedger: (request: ListLedgerRequest) => listLedger(request, ports.treasuryQueries, reader),
      BookFlow: (request: BookFlowRequest, call: RpcCall) => bookFlow(request, call, ports, reader),
      BookCorporateAction: (request: BookCorporateActionRequest, call: RpcCall) =>
        setting<CorporateAction | DeniedAnswer>(() =>
          request.kind === "SPLIT" || request.kind === "SYMBOL_CHANGE"
            ? announceAction(request, call, ports, reader)
            : bookDividend(request, call, ports, reader),
        ),
      RebuildLedger: (request: RebuildLedgerRequest, call: RpcCall) =>
        rebuildLedger(request, call, ports, { reader, book: bookFill }),
    },
    fundsOf: referenceFunds,
  };
}
