// The groups that verbs stand in, in help and completion.
import type { VerbGroup } from "./grammar.ts";
import type { Verb } from "./verbs/verb.ts";

/** The words that only group verbs; a verb may bring its own group. */
const groups: Readonly<Record<string, VerbGroup>> = {
  auth: { heading: "Who you are", sentence: "Log in and out, second factor, tokens of machines." },
  "auth tokens": { heading: "Administration", sentence: "Tokens of machines: list, issue, rotate, revoke." },
  "auth operators": {
    heading: "Administration",
    sentence: "People who may log in: list, add, roles, disable, reset-factor.",
  },
  "auth requests": { heading: "Administration", sentence: "What waits for a second admin's signature." },
  cmd: { heading: "Halts", sentence: "Stop, resume, cancel, flatten, restart: what an operator does in an emergency." },
  oms: { heading: "Trading", sentence: "Orders, trades and positions." },
  "oms positions": { heading: "Positions", sentence: "What a fund holds." },
  "oms orders": { heading: "Orders", sentence: "Orders: list, show, submit, amend, cancel." },
  "oms fills": { heading: "Orders", sentence: "Trades." },
  riskengine: { heading: "Risk", sentence: "Limits, denied orders, stops, and whether the books agree." },
  "riskengine halts": { heading: "Halts", sentence: "What is halted, and what is still to be done about it." },
  "riskengine blocks": { heading: "Decisions", sentence: "Standing conditions that deny new risk." },
  "riskengine losses": { heading: "Halts", sentence: "Losses against their limits." },
  "riskengine stops": { heading: "Stops", sentence: "Synthetic stops: list, end." },
  "riskengine flat": { heading: "Books", sentence: "Whether a fund is flat at the broker, recorded." },
  "riskengine differences": { heading: "Books", sentence: "Where our positions and the broker's differ." },
  "riskengine foreign": { heading: "Decisions", sentence: "What foreign publishers have sent." },
  "riskengine sources": { heading: "Decisions", sentence: "The sources to which orders belong." },
  "riskengine envelope": { heading: "Limits", sentence: "A fund's limits: show, set, diff, history, replay." },
  "riskengine rejections": { heading: "Decisions", sentence: "Orders that were denied." },
  "riskengine approvals": { heading: "Decisions", sentence: "What is reserved, order by order: list, release." },
  "riskengine throttle": { heading: "Limits", sentence: "What stops a strategy that repeats itself." },
  signals: { heading: "Trading", sentence: "Alerts of a charting platform, and what became of them." },
  platform: { heading: "The record", sentence: "The platform's own processes." },
  "platform services": { heading: "Processes", sentence: "Which processes run, and how they are." },
  market: { heading: "Trading", sentence: "Prices, how they moved, and news." },
  "market quotes": { heading: "Market", sentence: "The newest prices." },
  "market bars": { heading: "Market", sentence: "How prices moved." },
  "market news": { heading: "Market", sentence: "News on symbols." },
  treasury: { heading: "Funds", sentence: "Funds, their value and cash, instruments and reference data." },
  "treasury navs": { heading: "Funds", sentence: "What a fund was worth over time." },
  "treasury ledger": { heading: "Funds", sentence: "A fund's cash ledger." },
  "treasury flow": { heading: "Funds", sentence: "Money put in or taken out." },
  "treasury corporate-action": {
    heading: "Funds",
    sentence: "What companies do with their shares: dividends, splits, other symbols.",
  },
  "treasury funds": { heading: "Funds", sentence: "The funds and what they are worth." },
  "treasury instruments": { heading: "Reference data", sentence: "What may be traded." },
  "treasury reference": { heading: "Reference data", sentence: "Reference data by kind: show, set." },
  report: { heading: "Funds", sentence: "Reports of a fund that tie to the cent, as HTML, PDF, JSON or CSV." },
  research: { heading: "Trading", sentence: "Strategies and their backtests." },
  "research strategies": { heading: "Strategies", sentence: "Strategies: list, set." },
  "research signals": { heading: "Strategies", sentence: "What strategies wanted, and what came of it." },
  "research backtest": { heading: "Strategies", sentence: "How a strategy would have done." },
  paper: { heading: "Drills", sentence: "The paper broker and the paper market." },
  "paper weather": { heading: "Drills", sentence: "What they are made to suffer: show, set." },
  "paper inject": {
    heading: "Drills",
    sentence: "Observations for watchdogs: skill, pnl, dead-rows, slow-queries, clear.",
  },
  operations: { heading: "The record", sentence: "What happened, and the proof of it." },
  "operations flatten": { heading: "Halts", sentence: "How far a flatten has come." },
  "operations alarms": { heading: "Alarms", sentence: "What the platform wanted a person to know." },
  "operations drills": { heading: "Drills", sentence: "Halt drills: run, list." },
  "operations secrets": { heading: "Secrets", sentence: "Secrets of outside services: list, put." },
  "operations restrictions": { heading: "Watchdogs", sentence: "What watchdogs keep from being done: list, end." },
  "operations watchdog": {
    heading: "Watchdogs",
    sentence: "The ten watchdogs: status, config, pause, resume, judge, episodes.",
  },
  "operations parked": {
    heading: "Events put aside",
    sentence: "Events that a subscription could not handle: list, retry, discard.",
  },
  "operations unaudited": {
    heading: "Changes without an event",
    sentence: "Rows that were changed without an event, for which new risk is denied: list, accept.",
  },
  "operations audit": { heading: "The record", sentence: "The audit chain: show, follow, verify, prove, export." },
  "operations audit key": { heading: "The key", sentence: "The key that signs its checkpoints: rotate, revoke." },
};

export function groupsOf(verbs: readonly Verb[]): Readonly<Record<string, VerbGroup>> {
  const own = verbs.flatMap(({ name, group }) => (group === undefined ? [] : [[parentOf(name), group] as const]));
  return { ...groups, ...Object.fromEntries(own) };
}

function parentOf(name: string): string {
  return name.split(" ").slice(0, -1).join(" ");
}
