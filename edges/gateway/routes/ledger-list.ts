// GET /v1/treasury/ledger: a fund's cash ledger, newest first, page by page.
import type { Ledger, ListLedgerRequest } from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { denied } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { ledgerAnswer, ledgerQuery } from "../schemas/accounts.ts";
import { fetchedCount, pageOf } from "../schemas/paging.ts";

const path = "/v1/treasury/ledger";

export function ledgerList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    id: "listLedger",
    method: "GET",
    path,
    listeners: ["operator"],
    sentence: "List a fund's cash ledger, newest first.",
    operation: "ListLedger",
    query: ledgerQuery,
    answers: { 200: ledgerAnswer },
    handle: async (request) => {
      const outcome = await askService<ListLedgerRequest, Ledger>(parts, request, {
        service: "Treasury",
        method: "ListLedger",
        message: {
          fund_id: request.query.fund_id,
          count_max: fetchedCount(request.query),
          after_entry_id: request.query.after,
        },
      });
      if (!outcome.ok) return denied(outcome);
      const { rows, more } = pageOf(path, request.query, outcome.value.entries, (one) => one.entry_id);
      return { status: 200, body: plain(rows), ...more };
    },
  });
}
