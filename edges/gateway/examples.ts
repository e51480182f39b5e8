// Requests of the reference that the schemas alone would not suggest: what a person would send to the platform as it comes. The rest is made up from
// the schemas; the document's writer holds every one of them against its route.
import type { RouteExample } from "../../ports/http.ts";

const reason = "As agreed on the desk.";

const limits = {
  max_position_pct: 0.07,
  max_gross_exposure_pct: 1.5,
  max_net_exposure_pct: 1,
  sector_limits_pct: {},
  max_notional: 250_000,
  allowed_brokers: ["paper"],
  allowed_order_types: ["MARKET", "LIMIT"],
  allowed_asset_classes: ["EQUITY"],
  price_collar_pct: 0.05,
  daily_loss_halt_pct: 0.02,
  weekly_loss_halt_pct: 0.05,
  monthly_loss_halt_pct: 0.08,
  synthetic_stop_pct: 0.08,
};

export const routeExamples: Readonly<Record<string, RouteExample>> = {
  amendOrder: { body: { idempotency_key: "morning-run-1-amended", quantity: "5", reason } },
  appendAudit: { body: { action: "desk.handover", subject_id: "alpha", data: { from: "night", to: "day" } } },
  bookCorporateAction: {
    body: {
      action_id: "AAPL-2026-12-01",
      kind: "CASH_DIVIDEND",
      symbol: "AAPL",
      amount_per_share: "0.25",
      ex_date: "2026-12-01",
      reason: "Announced by the issuer.",
    },
  },
  acceptUnauditedChange: { params: { change_id: "0f1e2d3c4b5a6978" }, body: { reason: "Restored by hand." } },
  addOperator: { body: { name: "erika", roles: ["operator"], reason: "Joins the desk." } },
  changeOperatorRoles: { body: { roles: ["viewer"], reason: "Changes desks." } },
  disableOperator: { body: { reason: "The laptop is lost." } },
  resetOperatorFactor: { body: { reason: "The telephone is lost." } },
  bookFlow: {
    body: { fund_id: "alpha", idempotency_key: "flow-1", currency: "USD", amount: "1000", reason: "A subscription." },
  },
  cancelAllOrders: { body: { fund_id: "gamma", confirmation: "CANCEL", reason } },
  diffEnvelopes: { params: { fund_id: "alpha" }, body: { proposed: limits } },
  flattenPaper: { body: { fund_id: "gamma", confirmation: "FLATTEN", reason: "The end of the test." } },
  getAuditProof: { answer: "c2sp.org/tlog-proof@v1\nindex 0\n\nportcullis\n42\n" },
  getAuditCheckpoint: { answer: "portcullis\n42\nn4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=\n" },
  getReference: { answer: "<!doctype html>" },
  getPublicReference: { answer: "<!doctype html>" },
  getReferenceStyle: { answer: "body { margin: 0 }" },
  getPublicReferenceStyle: { answer: "body { margin: 0 }" },
  getMetrics: { answer: '# TYPE portcullis_up gauge\nportcullis_up{service="riskengine"} 1\n' },
  injectObservations: { body: { kind: "CLEAR", reason: "The end of the drill." } },
  issueServiceToken: { body: { name: "my-oms", operations: ["CheckOrder"], expires_in_s: 86_400, reason } },
  listBars: { query: { interval: "1m", count_max: "5" } },
  listFills: { query: { fund_id: "alpha", count_max: "5" } },
  listNews: { query: { symbol: "AAPL", hours: "24" } },
  listOrders: { query: { fund_id: "alpha", count_max: "5" } },
  listReplayBars: { query: { interval: "1m", count_max: "5" } },
  listQuotes: { query: { symbols: "AAPL,MSFT" } },
  getPositions: { query: { fund_id: "alpha" } },
  getPublicQuotes: { query: { symbols: "AAPL,MSFT" } },
  getPublicBars: { query: { interval: "1m", count_max: "5" } },
  makeReport: {
    body: { report: "nav_report", parameters: { fund_id: "alpha", window: "30d" }, format: "pdf" },
  },
  putSecret: {
    params: { path: "chat/token" },
    body: { value: "the-token-of-the-bot", reason: "A new bot." },
  },
  replayEnvelope: { params: { fund_id: "alpha" }, body: { proposed: limits } },
  requestHalt: { body: { id: "gamma-income", reason: "Prices look wrong.", confirmation: "HALT" } },
  resumeHalt: { body: { id: "gamma-income", reason: "The prices were right.", confirmation: "RESUME" } },
  revokeSessions: { body: { actor: "operator:viewer", reason: "The laptop is lost." } },
  setPaperWeather: { body: { report_loss_pct: 0.01, reason: "Lose one report of a hundred." } },
  setReferenceData: {
    params: { kind: "restricted" },
    body: { version: 2, content: [], reason: "Nothing is restricted." },
  },
  setStrategy: { body: { status: "shadow", reason: "Watch it first." } },
  setWatchdogConfig: { body: { threshold: 0.9, reason: "Too many alarms." } },
  stepUp: { body: { action: "IssueServiceToken", parameters: { name: "my-oms" }, totp: "123456" } },
  submitOrder: {
    body: {
      idempotency_key: "morning-run-1",
      fund_id: "alpha",
      strategy_id: "alpha-momentum",
      symbol: "AAPL",
      side: "BUY",
      quantity: "10",
      order_type: "MARKET",
      tif: "DAY",
      broker: "paper",
      asset_class: "EQUITY",
    },
  },
  tailAudit: {
    query: { from_sequence: "0" },
    answer: 'id: 0\nevent: entry\ndata: {"sequence":0}\n\n',
  },
  verifyDecisions: { body: { fund_id: "alpha" } },
  updateEnvelope: { params: { fund_id: "alpha" }, body: { version: 2, ...limits, reason } },
};
