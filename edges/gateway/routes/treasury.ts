// Funds and reference data.
import type {
  Funds,
  ListFundsRequest,
  ListNavsRequest,
  Navs,
  ReferenceDocument,
} from "../../../contracts/src/generated/svc/v1/platform.ts";
import type { Route } from "../../../ports/http.ts";
import { answerTo, denied } from "../answers.ts";
import { askService, plain } from "../ask-service.ts";
import {
  askDeclared,
  declarationOf,
  declared,
  declaredBody,
  declaredMessage,
  declaredPlace,
  declaredRequest,
} from "../declared/route.ts";
import { defineRoute } from "../define-route.ts";
import { underIfMatch, withVersionTag } from "../if-match.ts";
import { judgedContent } from "../new-text.ts";
import type { GatewayParts } from "../parts.ts";
import { nextLink } from "../schemas/paging.ts";
import {
  fundBody,
  fundsAnswer,
  kindParams,
  referenceAnswer,
  referenceJson,
  setReferenceDataBody,
} from "../schemas/treasury.ts";

/** GET /v1/treasury/funds: the funds, what they are worth, and whether they are halted. */
export function fundsList(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    ...declaredPlace("listFunds"),
    answers: { 200: fundsAnswer },
    handle: async (request) => {
      const outcome = await askService<ListFundsRequest, Funds>(parts, request, {
        service: "Treasury",
        method: "ListFunds",
        message: {},
      });
      return answerTo(outcome, 200, ({ funds }) => plain(funds.map(fundBody)));
    },
  });
}

/** Of a list whose page size nobody named. */
const navsUsual = 5_000;

/** GET /v1/treasury/navs: what a fund was worth, oldest first; the newest of the period, and those before them page by page. */
export function navsList(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declared("listNavs"),
    handle: async (request) => {
      const message = declaredMessage<ListNavsRequest>("listNavs", request);
      const query = request.query as { readonly count_max?: number };
      const count = query.count_max ?? navsUsual;
      const outcome = await askDeclared<Navs>("listNavs", parts, request, { ...message, count_max: count + 1 });
      if (!outcome.ok) return denied(outcome);
      const { navs: fetched } = outcome.value;
      const answer = { status: 200, body: declaredBody("listNavs", { navs: fetched.slice(-count) }) };
      const first = fetched.at(-count);
      if (fetched.length <= count || first === undefined) return answer;
      return { ...answer, headers: { link: nextLink(declarationOf("listNavs").path, query, first.as_of) } };
    },
  };
}

/** GET /v1/treasury/reference/:kind: the newest version of one kind of reference data. */
export function referenceData(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declaredRequest("getReferenceData"),
    answers: { 200: referenceAnswer },
    handle: async (request) => {
      const message = declaredMessage("getReferenceData", request);
      const outcome = await askDeclared<ReferenceDocument>("getReferenceData", parts, request, message);
      return withVersionTag(answerTo(outcome, 200, referenceJson));
    },
  };
}

/** PUT /v1/treasury/reference/:kind: the next version of one kind of reference data, as a whole. */
export function referenceDataSet(parts: Pick<GatewayParts, "services">): Route {
  return defineRoute({
    ...declaredPlace("setReferenceData"),
    params: kindParams,
    body: setReferenceDataBody,
    answers: { 200: referenceAnswer, 202: referenceAnswer },
    handle: async (request) => {
      const { version, content: sent, reason, step_up_proof: proof, dry_run: isDry } = request.body;
      const condition = { bodyVersion: version, conflictCode: "REFERENCE_VERSION_CONFLICT" };
      return underIfMatch(request, condition, async () => {
        const asked = { kind: request.params.kind, content: sent, loosens: proof !== undefined };
        const contentJson = await judgedContent(parts, request, asked);
        const outcome = await askService<ReferenceDocument, ReferenceDocument>(parts, request, {
          service: "Treasury",
          method: "SetReferenceData",
          message: {
            kind: request.params.kind,
            version,
            content_json: contentJson,
            reason: reason ?? "",
            ...(proof === undefined ? {} : { step_up_proof: proof }),
            ...(isDry === true ? { dry_run: true } : {}),
          },
        });
        const status = outcome.ok && outcome.value.pending === true ? 202 : 200;
        return answerTo(outcome, status, referenceJson);
      });
    },
  });
}

/** POST /v1/treasury/reference/requests/:request_id/cosign: the second person's signature under a change that loosens during a halt. */
export function referenceDataCosign(parts: Pick<GatewayParts, "services">): Route {
  return {
    ...declaredRequest("cosignReferenceData"),
    answers: { 200: referenceAnswer },
    handle: async (request) => {
      const message = declaredMessage("cosignReferenceData", request);
      const outcome = await askDeclared<ReferenceDocument>("cosignReferenceData", parts, request, message);
      return answerTo(outcome, 200, referenceJson);
    },
  };
}
