// What anybody may read: quotes, bars, funds and halts, without a login.

import type { ActiveHalts, ListActiveHaltsRequest } from "../../../contracts/src/generated/svc/v1/halt.ts";
import type {
  Bars,
  ListBarsRequest,
  ListQuotesRequest,
  Quotes,
} from "../../../contracts/src/generated/svc/v1/marketdesk.ts";
import type { Funds, ListFundsRequest } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { fieldAnswer, reportedMember } from "../declared/answers.ts";
import { messageOf, requestSchemas } from "../declared/requests.ts";
import { declarationOf } from "../declared/route.ts";
import { defineRoute } from "../define-route.ts";
import { answerPublic, type PublicParts, publicBarsPerMinuteMax, publicRequestsPerMinuteMax } from "../public-data.ts";
import { nextBars, quoteAnswer, reportedQuote, symbolParams } from "../schemas/market.ts";
import { fundsAnswer, reportedFund } from "../schemas/treasury.ts";

/** The same question as the operators', at an address of its own. */
const path = "/v1/bars/:symbol";
const declaration = { ...declarationOf("listBars"), path };

/** GET /v1/bars/:symbol on the public port: how a price moved, oldest first, for anyone. */
export function publicBars(parts: PublicParts): Route {
  return {
    id: "getPublicBars",
    method: "GET",
    path,
    listeners: ["public"],
    sentence: "Get how the price of a symbol moved, oldest first.",
    operation: "ReadMarketData",
    attemptsPerMinuteMax: publicBarsPerMinuteMax,
    ...requestSchemas(declaration),
    answers: { 200: fieldAnswer("Bars", "bars") },
    handle: (request) => {
      const message = messageOf<ListBarsRequest>(declaration, request);
      return answerPublic<ListBarsRequest, Bars>(parts, request, {
        service: "MarketDesk",
        method: "ListBars",
        message,
        freshS: 5,
        tell: (bars) => reportedMember("Bars", "bars", bars),
        headers: ({ next_start }) =>
          nextBars(`/v1/bars/${encodeURIComponent(message.symbol)}`, request.query as object, next_start),
      });
    },
  };
}

/** GET /v1/quotes/:symbol on the public port: the newest prices of one symbol, for anyone. */
export function publicQuote(parts: PublicParts): Route {
  return defineRoute({
    id: "getPublicQuote",
    method: "GET",
    path: "/v1/quotes/:symbol",
    listeners: ["public"],
    sentence: "Get the newest prices of a symbol.",
    operation: "ReadMarketData",
    attemptsPerMinuteMax: publicRequestsPerMinuteMax,
    params: symbolParams,
    answers: { 200: quoteAnswer },
    handle: (request) =>
      answerPublic<ListQuotesRequest, Quotes>(parts, request, {
        service: "MarketDesk",
        method: "ListQuotes",
        message: { symbols: [request.params.symbol] },
        freshS: 1,
        tell: ({ quotes }) => {
          const found = quotes.find(({ symbol }) => symbol === request.params.symbol);
          return found === undefined ? undefined : reportedQuote(found, parts.clock.now());
        },
        nothing: `There is no quote of ${JSON.stringify(request.params.symbol)}: no such instrument is traded here, or it has not been quoted yet.`,
      }),
  });
}

/** GET /v1/funds on the public port: the funds, what they are worth, and whether they are halted, for anyone. */
export function publicFunds(parts: PublicParts): Route {
  return defineRoute({
    id: "getPublicFunds",
    method: "GET",
    path: "/v1/funds",
    listeners: ["public"],
    sentence: "List the funds and what they are worth.",
    operation: "ReadMarketData",
    attemptsPerMinuteMax: publicRequestsPerMinuteMax,
    answers: { 200: fundsAnswer },
    handle: (request) =>
      answerPublic<ListFundsRequest, Funds>(parts, request, {
        service: "Treasury",
        method: "ListFunds",
        message: {},
        freshS: 1,
        tell: ({ funds }) => funds.map(reportedFund),
      }),
  });
}

/** GET /v1/halts on the public port: the halts in force, for anyone. */
export function publicHalts(parts: PublicParts): Route {
  return defineRoute({
    id: "getPublicHalts",
    method: "GET",
    path: "/v1/halts",
    listeners: ["public"],
    sentence: "List the halts in force.",
    operation: "ReadMarketData",
    attemptsPerMinuteMax: publicRequestsPerMinuteMax,
    answers: { 200: fieldAnswer("ActiveHalts", "halts") },
    handle: (request) =>
      answerPublic<ListActiveHaltsRequest, ActiveHalts>(parts, request, {
        service: "Operations",
        method: "ListActiveHalts",
        message: {},
        freshS: 1,
        tell: (halts) => reportedMember("ActiveHalts", "halts", halts),
      }),
  });
}
