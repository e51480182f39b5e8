// The whole list of routes as data: names, places, the rows of authority that guard them, and no use of a part before a
// request comes.
import { describe, expect, it } from "vitest";
import { isOperation } from "../../contracts/src/authority.ts";
import type { Route } from "../../ports/http.ts";
import { forwarded } from "./declared/route.ts";
import { gatewayRoutes } from "./index.ts";
import type { GatewayParts } from "./parts.ts";
import { everyRoute } from "./routes/index.ts";

const noParts = new Proxy({} as GatewayParts, {
  get: (_target, part) => {
    throw new Error(`${String(part)} was used before any request came`);
  },
});
const routes: readonly Route[] = gatewayRoutes(noParts);

describe("the gateway's routes", () => {
  // biome-ignore format: one route, one line
  it("are these, each with its row of the table of authority", () => {
    const found = routes.map((route) => `${route.listeners.join("+")} ${route.method} ${route.path} ${route.id} ${route.operation}`);
    const expected = [
      "operator GET /v1/healthz getHealth ReadHealth",
      "public GET /v1/healthz getPublicHealth ReadHealth",
      "operator GET /metrics getMetrics ReadMetrics",
      "operator GET /v1/openapi.json getOpenApi ReadSchema",
      "public GET /v1/openapi.json getPublicOpenApi ReadSchema",
      "operator GET /docs getReference ReadSchema",
      "operator GET /v1/events tailEvents TailEvents",
      "operator GET /v1/platform/logs/:service readLogs ReadLogs",
      "operator POST /v1/reports makeReport MakeReport",
      "operator GET /v1/reports listReports ReadReports",
      "operator GET /v1/reports/:report_id getReport ReadReports",
      "operator GET /v1/reports/:report_id/document getReportDocument ReadReports",
      "operator GET /v1/reports/schedules listReportSchedules ReadReports",
      "operator POST /v1/reports/schedules/:name/runs runReportSchedule MakeReport",
      "operator GET /v1/reports/schedules/:name/runs listReportRuns ReadReports",
      "operator GET /v1/platform/services listServices ListServices",
      "operator GET /docs/style.css getReferenceStyle ReadSchema",
      "operator GET /v1/asyncapi.json getAsyncApi ReadSchema",
      "public GET /docs getPublicReference ReadSchema",
      "public GET /docs/style.css getPublicReferenceStyle ReadSchema",
      "public GET /v1/asyncapi.json getPublicAsyncApi ReadSchema",
      "operator GET /.well-known/oauth-protected-resource getLoginConfiguration LogIn",
      "operator GET /v1/auth/identity getIdentity ReadIdentity",
      "operator POST /v1/auth/logout logOut LogOut",
      "operator POST /v1/auth/second-factor beginSecondFactor EnrolSecondFactor",
      "operator POST /v1/auth/second-factor/confirm confirmSecondFactor EnrolSecondFactor",
      "operator POST /v1/auth/step-up stepUp StepUp",
      "operator GET /v1/service-tokens listServiceTokens ListServiceTokens",
      "operator POST /v1/service-tokens issueServiceToken IssueServiceToken",
      "operator POST /v1/service-tokens/:token_id/rotate rotateServiceToken RotateServiceToken",
      "public POST /tradingview/webhook receiveTradingviewAlert ReceiveTradingviewAlert",
      "public POST /githubbot/webhook receiveGithubDelivery ReceiveGithubDelivery",
      "operator POST /v1/githubbot/install installGithubbot InstallGithubbot",
      "operator POST /v1/githubbot/uninstall uninstallGithubbot UninstallGithubbot",
      "operator POST /v1/githubbot/pause pauseGithubbot PauseGithubbot",
      "operator POST /v1/githubbot/resume resumeGithubbot ResumeGithubbot",
      "operator GET /v1/githubbot/status getGithubbotStatus ReadGithubbot",
      "operator GET /v1/githubbot/runs listGithubbotRuns ReadGithubbot",
      "operator GET /v1/githubbot/runs/:run_id getGithubbotRun ReadGithubbot",
      "operator GET /v1/githubbot/deliveries listGithubbotDeliveries ReadGithubbot",
      "operator GET /v1/githubbot/budget getGithubbotBudget ReadGithubbot",
      "operator GET /v1/webhook getWebhookStatus ReadWebhookStatus",
      "operator POST /v1/webhook/secrets/:fund_id/rotate rotateWebhookSecret RotateWebhookSecret",
      "operator GET /v1/signals listWebhookSignals ListWebhookSignals",
      "operator GET /v1/signals/:signal_id getWebhookSignal GetWebhookSignal",
      "operator POST /v1/signals/test testSignal TestSignal",
      "operator DELETE /v1/service-tokens/:token_id revokeServiceToken RevokeServiceToken",
      "operator POST /v1/auth/sessions/revoke revokeSessions RevokeSessions",
      "operator GET /v1/auth/operators listOperators ListOperators",
      "operator POST /v1/auth/operators addOperator AddOperator",
      "operator POST /v1/auth/operators/:name/roles changeOperatorRoles ChangeOperatorRoles",
      "operator POST /v1/auth/operators/:name/disable disableOperator DisableOperator",
      "operator POST /v1/auth/operators/:name/reset-factor resetOperatorFactor ResetOperatorFactor",
      "operator GET /v1/auth/requests listIdentityRequests ListIdentityRequests",
      "operator POST /v1/auth/requests/:request_id/cosign cosignIdentityRequest CosignIdentityRequest",
      "operator POST /v1/operations/unaudited-changes/:change_id/accept acceptUnauditedChange AcceptUnauditedChange",
      "operator POST /v1/operations/unaudited-requests/:request_id/cosign cosignUnauditedChange CosignUnauditedChange",
      "operator POST /v1/auth/signing-keys/rotate rotateSigningKeys RotateSigningKeys",
      "operator GET /v1/riskengine/envelopes/:fund_id getEnvelope GetEnvelope",
      "operator PUT /v1/riskengine/envelopes/:fund_id updateEnvelope UpdateEnvelope",
      "operator GET /v1/riskengine/envelopes/:fund_id/history listEnvelopes ListEnvelopes",
      "operator POST /v1/riskengine/envelopes/:fund_id/diff diffEnvelopes DiffEnvelopes",
      "operator POST /v1/riskengine/envelopes/:fund_id/replay replayEnvelope ReplayEnvelope",
      "operator GET /v1/riskengine/rejections listRejections ListRejections",
      "operator GET /v1/riskengine/decisions/:order_id getDecisions GetDecisions",
      "operator GET /v1/riskengine/headroom getHeadroom GetHeadroom",
      "operator POST /v1/riskengine/throttles/:strategy_id/release releaseThrottle ReleaseThrottle",
      "operator GET /v1/riskengine/approvals listApprovals ListApprovals",
      "operator POST /v1/riskengine/approvals/:order_id/release releaseApproval ReleaseApproval",
      "operator GET /v1/riskengine/foreign/position getForeignPosition GetForeignPosition",
      "operator GET /v1/halts listHalts ListActiveHalts",
      "operator GET /v1/halts/status getHaltStatus GetHaltStatus",
      "operator GET /v1/halts/history listHaltHistory ListHaltHistory",
      "operator POST /v1/halts requestHalt RequestHalt",
      "operator POST /v1/halts/resume resumeHalt ResumeHalt",
      "operator GET /v1/riskengine/losses listLosses ListLosses",
      "operator GET /v1/riskengine/blocks listBlocks ListBlocks",
      "operator POST /v1/riskengine/approvals/:order_id/end endApproval EndApproval",
      "operator POST /v1/riskengine/sources/:from/hand-over handOverSource HandOverSource",
      "operator POST /v1/riskengine/blocks/:block_id/accept acceptBlock AcceptBlock",
      "operator GET /v1/riskengine/limit-use getLimitUse GetLimitUse",
      "operator GET /v1/flatten getFlatten GetFlatten",
      "operator POST /v1/flatten flattenPaper FlattenPaper",
      "operator GET /v1/drills listDrills ListDrills",
      "operator POST /v1/drills runDrill RunDrill",
      "operator POST /v1/platform/restart restartServices RestartAll",
      "operator GET /v1/riskengine/stops listStops ListStops",
      "operator POST /v1/riskengine/stops/:stop_id/end endStop EndStop",
      "operator POST /v1/riskengine/reconciliations reconcile Reconcile",
      "operator GET /v1/riskengine/differences listDifferences ListDifferences",
      "operator POST /v1/riskengine/flat-proofs proveFlat ProveFlat",
      "operator GET /v1/riskengine/books getBooks GetBooks",
      "operator GET /v1/operations/unaudited-changes listUnauditedChanges ListUnauditedChanges",
      "operator GET /v1/operations/parked listParked ListParked",
      "operator GET /v1/operations/restrictions listRestrictions ListRestrictions",
      "operator POST /v1/operations/restrictions/:restriction_id/end endRestriction EndRestriction",
      "operator GET /v1/operations/watchdogs listWatchdogs ListWatchdogs",
      "operator GET /v1/operations/watchdogs/:watchdog/config getWatchdogConfig GetWatchdogConfig",
      "operator PUT /v1/operations/watchdogs/:watchdog/config setWatchdogConfig SetWatchdogConfig",
      "operator GET /v1/operations/watchdogs/:watchdog/episodes listEpisodes ListEpisodes",
      "operator POST /v1/operations/watchdogs/:watchdog/judge judgeWatchdog JudgeWatchdog",
      "operator POST /v1/operations/watchdogs/:watchdog/pause pauseWatchdog PauseWatchdog",
      "operator POST /v1/operations/watchdogs/:watchdog/resume resumeWatchdog ResumeWatchdog",
      "operator POST /v1/paper/injections injectObservations InjectObservations",
      "operator POST /v1/operations/parked/retry retryParked RetryParked",
      "operator POST /v1/operations/parked/discard discardParked DiscardParked",
      "operator GET /v1/oms/positions getPositions ListPositions",
      "operator GET /v1/oms/orders listOrders ListOrders",
      "operator POST /v1/oms/orders submitOrder SubmitOrder",
      "operator GET /v1/oms/orders/:order_id getOrder GetOrder",
      "operator POST /v1/oms/orders/:order_id/cancel cancelOrder CancelOrder",
      "operator POST /v1/oms/orders/:order_id/amend amendOrder AmendOrder",
      "operator POST /v1/oms/cancel-all cancelAllOrders CancelAll",
      "operator GET /v1/oms/fills listFills ListFills",
      "operator GET /v1/oms/paper-weather getPaperWeather GetPaperWeather",
      "operator PUT /v1/oms/paper-weather setPaperWeather SetPaperWeather",
      "operator GET /v1/treasury/funds listFunds ListFunds",
      "operator GET /v1/treasury/navs listNavs ListNavs",
      "operator GET /v1/treasury/ledger listLedger ListLedger",
      "operator POST /v1/treasury/corporate-actions bookCorporateAction BookCorporateAction",
      "operator POST /v1/treasury/ledgers/:fund_id/rebuild rebuildLedger RebuildLedger",
      "operator POST /v1/treasury/flows bookFlow BookFlow",
      "operator GET /v1/treasury/instruments listInstruments ListInstruments",
      "operator GET /v1/treasury/reference/:kind getReferenceData GetReferenceData",
      "operator PUT /v1/treasury/reference/:kind setReferenceData SetReferenceData",
      "operator POST /v1/treasury/reference/requests/:request_id/cosign cosignReferenceData CosignReferenceData",
      "operator GET /v1/research/strategies listStrategies ListStrategies",
      "operator POST /v1/research/strategies/:strategy_id setStrategy SetStrategy",
      "operator GET /v1/research/strategies/:strategy_id/backtest getBacktest GetBacktest",
      "operator GET /v1/research/strategies/:strategy_id/signals listSignals ListSignals",
      "operator GET /v1/research/matrix getMatrix GetMatrix",
      "operator GET /v1/market/quotes listQuotes ListQuotes",
      "operator GET /v1/market/bars/:symbol listBars ListBars",
      "operator GET /v1/market/news listNews ListNews",
      "operator POST /v1/operations/filings/events reportRegulatoryEvent ReportRegulatoryEvent",
      "operator POST /v1/operations/filings/rebuilds rebuildFilings RebuildFilings",
      "operator POST /v1/operations/filings/repairs repairFilings RepairFilings",
      "operator POST /v1/operations/filings/reviews reviewFilings ReviewFilings",
      "operator GET /v1/operations/filings/files listFilings ListFilings",
      "operator GET /v1/operations/filings/files/:filing_id readFiling ReadFiling",
      "operator GET /v1/operations/filings/reconciliation reconcileFilings ReconcileFilings",
      "operator GET /v1/operations/filings/verification verifyFilings VerifyFilings",
      "operator GET /v1/operations/filings/records listFilingRecords ListFilingRecords",
      "operator POST /v1/operations/filings/seals sealFilings SealFilings",
      "operator POST /v1/operations/filings/uploads uploadFilings UploadFilings",
      "operator POST /v1/operations/filings/feedback takeFilingFeedback TakeFilingFeedback",
      "operator POST /v1/operations/filings/corrections correctFilingRecord CorrectFilingRecord",
      "operator GET /v1/replay/timeline listTimeline ListTimeline",
      "operator GET /v1/replay/moment getMoment GetMoment",
      "operator GET /v1/replay/bars/:symbol listReplayBars ListReplayBars",
      "operator POST /v1/replay/verify verifyDecisions VerifyDecisions",
      "public GET /v1/quotes/:symbol getPublicQuote ReadMarketData",
      "public GET /v1/quotes getPublicQuotes ReadMarketData",
      "public GET /v1/instruments getPublicInstruments ReadMarketData",
      "public GET /v1/bars/:symbol getPublicBars ReadMarketData",
      "public GET /v1/funds getPublicFunds ReadMarketData",
      "public GET /v1/halts getPublicHalts ReadMarketData",
      "operator GET /v1/operations/audit getAuditTrail GetAuditTrail",
      "operator POST /v1/operations/audit appendAudit AppendAudit",
      "operator GET /v1/operations/audit/verify verifyAudit VerifyAudit",
      "operator GET /v1/operations/audit/entries readAudit ReadAudit",
      "operator GET /v1/operations/audit/tail tailAudit TailAudit",
      "operator GET /v1/operations/audit/entries/:sequence/proof getAuditProof GetAuditProof",
      "operator GET /v1/operations/audit/consistency getAuditConsistency GetAuditConsistency",
      "operator GET /v1/operations/audit/bundle-head getAuditBundleHead GetAuditBundleHead",
      "operator GET /v1/operations/audit/status getAuditStatus GetAuditStatus",
      "operator GET /v1/operations/alarms listAlarms ListAlarms",
      "operator GET /v1/operations/secrets listSecrets ListSecrets",
      "operator PUT /v1/operations/secrets/:path* putSecret PutSecret",
      "operator POST /v1/operations/audit/inspect inspectAudit InspectAudit",
      "operator POST /v1/operations/audit/verifications beginAuditVerification BeginAuditVerification",
      "operator POST /v1/operations/audit/inspections beginAuditInspection BeginAuditInspection",
      "operator GET /v1/operations/audit/runs/:run_id watchAuditRun WatchAuditRun",
      "operator POST /v1/operations/audit/keys/rotate rotateAuditKey RotateAuditKey",
      "operator POST /v1/operations/audit/keys/:key_id/revoke revokeAuditKey RevokeAuditKey",
      "operator POST /v1/operations/audit/erasures eraseAuditSubject EraseAuditSubject",
      "operator POST /v1/operations/audit/anew beginAuditAnew BeginAuditAnew",
      "operator POST /v1/operations/audit/anew/:request_id/cosign cosignAuditAnew CosignAuditAnew",
      "operator GET /v1/operations/audit/log/checkpoint getAuditCheckpoint GetAuditTile",
      "operator GET /v1/operations/audit/log/tile/:path* getAuditTile GetAuditTile",
    ];
    expect(found.sort()).toEqual(expected.sort());
  });

  it("have names that are there once, and operations that exist", () => {
    expect(new Set(routes.map((route) => route.id)).size).toBe(routes.length);
    expect(routes.filter((route) => !isOperation(route.operation))).toEqual([]);
    const places = routes.flatMap((route) => route.listeners.map((on) => `${on} ${route.method} ${route.path}`));
    expect(new Set(places).size).toBe(places.length);
  });

  it("24.1: are declared, each with its procedure or with the gateway's operations, or they are not served", () => {
    const place = routes.find(({ id }) => id === "getHealth") as Route;
    const stray = (): Route => ({ ...place, id: "getStray", path: "/v1/stray" });
    expect(() => everyRoute(noParts, { gateway: [stray] })).toThrow(/getStray .*\/v1\/stray\) is not declared/);
    expect(() => everyRoute(noParts, { gateway: [() => ({ ...place, path: "/v1/elsewhere" })] })).toThrow(
      /not declared/,
    );
    expect(() => everyRoute(noParts, { customs: [stray] })).toThrow(/declared as custom and has no handler/);
    const forwardedToo = () => forwarded("getHeadroom", noParts);
    expect(() => everyRoute(noParts, { customs: [forwardedToo] })).toThrow(/no handler|not declared as custom/);
    expect(everyRoute(noParts)).toHaveLength(routes.length);
  });

  it("say one sentence each, and what they answer", () => {
    for (const route of routes) {
      expect(route.sentence, route.id).toMatch(/^[A-Z].*[^.]\.$/);
      const [status, ...more] = Object.keys(route.answers);
      expect(["200", "201", "202"], route.id).toContain(status);
      // GitHub is told apart what was new and what had come before.
      if (more.length === 0 || route.id === "receiveGithubDelivery") continue;
      // The one other answer is the request that a second person has to sign first.
      expect(more, route.id).toEqual(["202"]);
      const request = route.answers[202] as unknown as { readonly shape: object };
      expect(Object.keys(request.shape), route.id).toEqual(expect.arrayContaining(["request_id", "expires_at"]));
    }
  });

  it("have a schema for every parameter in their path, and a body only where one is sent", () => {
    for (const route of routes) {
      const named = [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1]);
      expect(named.length === 0, route.id).toBe(route.params === undefined);
      if (route.method === "GET" || route.method === "DELETE") expect(route.body, route.id).toBeUndefined();
    }
  });
});
