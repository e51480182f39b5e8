// Every route of the gateway. Those that are procedures of services are declared in the protos and forwarded; the ones here have behaviour of their
// own and replace the forwarded route of their name. The rest is the gateway's own, declared in contracts/src/gateway-operations.ts.

import { Defect } from "../../../contracts/src/fault.ts";
import { gatewayOperations } from "../../../contracts/src/gateway-operations.ts";
import { type DeclaredRouteId, declaredRoutes } from "../../../contracts/src/generated/routes.ts";
import type { Route } from "../../../ports/http.ts";
import { declarationOf, forwarded } from "../declared/route.ts";
import { routeExamples } from "../examples.ts";
import {
  githubbotBudget,
  githubbotDeliveries,
  githubbotInstall,
  githubbotPause,
  githubbotResume,
  githubbotRun,
  githubbotRuns,
  githubbotStatus,
  githubbotUninstall,
} from "../githubbot/handles.ts";
import { githubWebhook } from "../githubbot/webhook.ts";
import { versionedRoutes } from "../if-match.ts";
import type { GatewayParts } from "../parts.ts";
import { reportRunsList, reportScheduleRun, reportSchedulesList } from "../reports/schedule-routes.ts";
import { signalTest } from "../webhook/test-signal.ts";
import { tradingviewWebhook } from "../webhook/webhook.ts";
import { webhookSecretRotate, webhookStatus } from "../webhook/webhook-status.ts";
import { auditAppend, auditCheckpoint, auditEntries, auditProof, auditStatus, auditTile, auditTrail } from "./audit.ts";
import { auditTail } from "./audit-tail.ts";
import { envelopeDiff, envelopeReplay, envelopeUpdate } from "./envelopes.ts";
import { events } from "./events.ts";
import { haltRequest, haltResume, haltStatus } from "./halts.ts";
import { operatorHealthz, publicHealthz } from "./healthz.ts";
import { identity, loginConfiguration, logOut, sessionsRevoke, signingKeysRotate } from "./identity.ts";
import { logsRead } from "./logs.ts";
import { barsList, quotesList } from "./market.ts";
import { metricsPage } from "./metrics.ts";
import { openApi, publicOpenApi } from "./open-api.ts";
import {
  identityRequestCosign,
  identityRequestsList,
  operatorAdd,
  operatorDisable,
  operatorFactorReset,
  operatorRoles,
  operatorsList,
} from "./operators.ts";
import { orderSubmit } from "./orders.ts";
import { publicBars, publicFunds, publicHalts, publicInstruments, publicQuote, publicQuotes } from "./public.ts";
import {
  asyncApi,
  publicAsyncApi,
  publicReference,
  publicReferenceStyleSheet,
  reference,
  referenceStyleSheet,
} from "./reference.ts";
import { reportDocumentRead, reportMake, reportRead, reportsList } from "./reports.ts";
import { decisions, rejectionsList, stopsList, timelineList } from "./riskengine.ts";
import { secondFactorBegin, secondFactorConfirm, stepUp } from "./second-factor.ts";
import { serviceTokenIssue, serviceTokenRevoke, serviceTokenRotate, serviceTokensList } from "./service-tokens.ts";
import { servicesRestart } from "./services.ts";
import { servicesList } from "./services-list.ts";
import { fundsList, navsList, referenceData, referenceDataCosign, referenceDataSet } from "./treasury.ts";
import { unauditedChangeAccept, unauditedChangeCosign } from "./unaudited.ts";

type MakeRoute = (parts: GatewayParts) => Route;

/** What no service does. */
const gatewayRoutes: readonly MakeRoute[] = [
  operatorHealthz,
  publicHealthz,
  metricsPage,
  openApi,
  publicOpenApi,
  asyncApi,
  publicAsyncApi,
  reference,
  publicReference,
  referenceStyleSheet,
  publicReferenceStyleSheet,
  loginConfiguration,
  identity,
  logOut,
  secondFactorBegin,
  secondFactorConfirm,
  stepUp,
  serviceTokensList,
  serviceTokenIssue,
  serviceTokenRotate,
  serviceTokenRevoke,
  sessionsRevoke,
  operatorsList,
  operatorAdd,
  operatorRoles,
  operatorDisable,
  operatorFactorReset,
  identityRequestsList,
  identityRequestCosign,
  unauditedChangeAccept,
  unauditedChangeCosign,
  signingKeysRotate,
  servicesRestart,
  servicesList,
  logsRead,
  reportMake,
  reportsList,
  reportRead,
  reportDocumentRead,
  reportSchedulesList,
  reportScheduleRun,
  reportRunsList,
  publicQuote,
  publicQuotes,
  publicInstruments,
  publicBars,
  publicFunds,
  publicHalts,
  tradingviewWebhook,
  webhookStatus,
  webhookSecretRotate,
  githubWebhook,
  githubbotInstall,
  githubbotUninstall,
  githubbotPause,
  githubbotResume,
  githubbotStatus,
  githubbotRuns,
  githubbotRun,
  githubbotDeliveries,
  githubbotBudget,
];

/** Declared, and with behaviour of their own: `custom` in their protos. */
const customRoutes: readonly MakeRoute[] = [
  envelopeUpdate,
  envelopeDiff,
  envelopeReplay,
  rejectionsList,
  decisions,
  haltStatus,
  haltRequest,
  haltResume,
  stopsList,
  orderSubmit,
  fundsList,
  navsList,
  referenceData,
  referenceDataSet,
  referenceDataCosign,
  quotesList,
  barsList,
  auditTrail,
  auditAppend,
  auditEntries,
  auditTail,
  auditProof,
  auditStatus,
  auditCheckpoint,
  auditTile,
  events,
  signalTest,
  timelineList,
];

/** All of them; what is not declared, or declared to be something else, is not served. */
export function everyRoute(
  parts: GatewayParts,
  {
    gateway = gatewayRoutes,
    customs = customRoutes,
  }: { gateway?: readonly MakeRoute[]; customs?: readonly MakeRoute[] } = {},
): readonly Route[] {
  const own = gateway.map((make) => make(parts));
  for (const route of own) refuseUndeclared(route);
  const custom = new Map(customs.map((make) => make(parts)).map((route) => [route.id, route]));
  const ids = Object.keys(declaredRoutes) as DeclaredRouteId[];
  const declared = ids.map((id) => {
    const replaced = custom.get(id);
    custom.delete(id);
    if ((replaced !== undefined) !== (declarationOf(id).custom === true)) throw notAsDeclared(id, replaced);
    return replaced ?? forwarded(id, parts);
  });
  for (const route of custom.values()) refuseUndeclared(route);
  return [...own, ...declared].map(withExample);
}

function withExample(route: Route): Route {
  const example = routeExamples[route.id];
  return {
    ...route,
    ...(example === undefined ? {} : { example }),
    ...(versionedRoutes.has(route.id) ? { versioned: true } : {}),
  };
}

const gatewayPlaces: ReadonlyMap<string, string> = new Map(
  Object.values(gatewayOperations).flatMap(({ routes }) => Object.entries<string>(routes)),
);

function refuseUndeclared(route: Route): void {
  const place = `${route.listeners.join("+")} ${route.method} ${route.path}`;
  if (gatewayPlaces.get(route.id) === place) return;
  throw new Defect(
    `The route ${route.id} (${place}) is not declared: declare it with its procedure in contracts/proto, or with its operation in contracts/src/gateway-operations.ts.`,
  );
}

function notAsDeclared(id: DeclaredRouteId, replaced: Route | undefined): Defect {
  return new Defect(
    replaced === undefined
      ? `The route ${id} is declared as custom and has no handler in edges/gateway/routes: write one, or let it be forwarded.`
      : `The route ${id} has a handler in edges/gateway/routes and is not declared as custom: say so in its proto, or let it be forwarded.`,
  );
}
