// What stands around every desk: where one is, in which mode, what is halted, who is logged in, how the server is heard, and the way to stop everything.

import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useSyncExternalStore } from "react";
import { fromUnixMs } from "../../../contracts/src/instant.ts";
import { clean } from "../../../contracts/src/text/clean.ts";
import { haltAsk } from "../danger/asks.ts";
import { useDanger } from "../danger/danger-dialog.tsx";
import { useList } from "../data/use-list.ts";
import { desks } from "../desk-list.ts";
import { isHalted, modeOf } from "../model/halted.ts";
import { utc, utcText } from "../model/moments.ts";
import { ranges, rangeText } from "../model/range.ts";
import { carried, readSearch } from "../model/search.ts";
import { Theirs } from "../panels/theirs.tsx";
import { useFrozen, useLinkWord, useNow, useSessionState, useWeb } from "../web-context.tsx";
import { CosignCard, HaltBanner, HaltsUnread } from "./halt-banner.tsx";
import { KeyLayer } from "./key-layer.tsx";
import { rememberPath } from "./last-desk.ts";
import { useChangeSearch, useDeskSearch, useRefusedSearch } from "./use-search.ts";

export function Frame() {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const { fund } = useDeskSearch();
  const funds = useList("funds");
  const halts = useList("halts");
  const state = useSessionState();
  const link = useLinkWord();
  const desk = desks.find((one) => one.path === path);
  const mode = modeOf(funds.data, fund);
  useEffect(() => {
    if (desk === undefined) return;
    rememberPath(desk.path);
    document.title = `${desk.title} · Portcullis`;
  }, [desk]);
  if (state === "out") return <LoggedOut />;
  return (
    <div
      className={mode.includes("LIVE") ? "frame live" : "frame"}
      {...(desk === undefined ? {} : { "data-testid": `desk-${desk.name}` })}
      data-link={link}
      {...(isHalted(halts.data, fund) ? { "data-halted": "true" } : {})}
    >
      <a className="skip" href="#content">
        Skip to the desk
      </a>
      <TopBar mode={mode} />
      <div className="alerts">
        {state === "expired" && <LoginOver />}
        <HaltsUnread />
        <HaltBanner />
        <CosignCard />
      </div>
      <main id="content" tabIndex={-1}>
        {desk !== undefined && (
          <div className="question">
            <h1>{desk.title}</h1>
            <p>{desk.question}</p>
            {desk.panels.length > 0 && <Choices />}
          </div>
        )}
        <RefusedAddress />
        <NoSuchFund />
        <Outlet />
      </main>
      <footer className="print-only">
        As of {halts.updatedAtMs === 0 ? "never" : utc(fromUnixMs(halts.updatedAtMs))} · {window.location.href}
      </footer>
      <KeyLayer />
      <ProcessWatch />
    </div>
  );
}

/** Hands on what the gateway says of the processes, on every desk. */
function ProcessWatch() {
  const { processes } = useWeb();
  const { data, updatedAtMs } = useList("services");
  useEffect(() => {
    if (data !== undefined) processes.take(data, updatedAtMs);
  }, [processes, data, updatedAtMs]);
  return null;
}

function TopBar({ mode }: { readonly mode: string }) {
  const open = useDanger();
  return (
    <header className="top">
      <nav aria-label="Desks">
        {desks.map(({ name, path, title, panels }) => (
          <Link
            key={name}
            to={path}
            search={(before: Readonly<Record<string, unknown>>) => carried(readSearch(before))}
            className={panels.length === 0 ? "later" : undefined}
          >
            {title}
          </Link>
        ))}
      </nav>
      <span className="facts">
        <span data-testid="mode-badge" className={mode.includes("LIVE") ? "mode live" : "mode"}>
          {mode}
        </span>
        <LinkState />
        <AsOf />
        <FreezeToggle />
        <WhoAmI />
      </span>
      <button type="button" className="halt" data-testid="halt-button" onClick={() => open(haltAsk())}>
        Halt…
      </button>
    </header>
  );
}

/** An address that somebody else made may say anything: what cannot be is named, never repeated. */
function RefusedAddress() {
  const refused = useRefusedSearch();
  if (refused.length === 0) return null;
  return (
    <p className="note critical" role="status" data-testid="refused-address">
      What the address says for {refused.join(" and ")} cannot be one; it is left out.
    </p>
  );
}

/** Said once, above panels that can only repeat it. */
function NoSuchFund() {
  const { fund } = useDeskSearch();
  const change = useChangeSearch();
  const { data: funds } = useList("funds");
  if (fund === undefined || funds === undefined || funds.some(({ fund_id }) => fund_id === fund)) return null;
  return (
    <p className="note critical" role="status">
      There is no fund called <Theirs text={fund} />.{" "}
      <button type="button" onClick={() => change({ fund: undefined })}>
        Show all funds
      </button>
    </p>
  );
}

/** What all panels of a desk share: the fund, the range and what is typed. */
function Choices() {
  const { fund, q, from, to } = useDeskSearch();
  const change = useChangeSearch();
  const { data: funds = [] } = useList("funds");
  const known = funds.some(({ fund_id }) => fund_id === fund);
  return (
    <span className="choices">
      <label>
        <span className="unseen">Fund</span>
        <select value={fund ?? ""} onChange={(event) => change({ fund: event.target.value || undefined })}>
          <option value="">all funds</option>
          {fund !== undefined && !known && <option value={fund}>{fund} (not known)</option>}
          {funds.map(({ fund_id, mode }) => (
            <option key={fund_id} value={fund_id}>
              {fund_id} ({mode})
            </option>
          ))}
        </select>
      </label>
      <label>
        <span className="unseen">Range of time</span>
        <select
          value={to === undefined ? (from ?? "") : "as in the address"}
          onChange={(event) => change({ from: event.target.value || undefined, to: undefined })}
        >
          <option value="">usual ranges</option>
          {to !== undefined && <option>as in the address</option>}
          {to === undefined && from !== undefined && !ranges.some((one) => one === from) && <option>{from}</option>}
          {ranges.map((one) => (
            <option key={one} value={one}>
              {rangeText({ from: one }, "")}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span className="unseen">Filter tables</span>
        <input
          id="filter"
          type="search"
          placeholder="filter  /"
          value={q ?? ""}
          onChange={(event) => change({ q: event.target.value || undefined })}
        />
      </label>
    </span>
  );
}

const linkSentences = {
  live: "heard within 5 s",
  stale: "silent for 5 s or more: figures may be old",
  reconnecting: "the stream is cut and is being opened again",
  offline: "not reached for a minute; tried on",
  expired: "the login has run out: figures are of then",
} as const;

function LinkState() {
  const word = useLinkWord();
  return (
    <span
      data-testid="link-state"
      data-state={word}
      className={`link ${word}`}
      title={linkSentences[word]}
      role="status"
    >
      <span aria-hidden="true" className="dot" /> {word}
    </span>
  );
}

function AsOf() {
  const now = useNow();
  const { live } = useWeb();
  const heardAt = live.link().heardAt;
  const at = heardAt === undefined ? undefined : heardAt < now ? heardAt : now;
  return (
    <span data-testid="as-of" className="as-of" title="When the server was last heard, in UTC">
      {at === undefined ? "not heard yet" : utc(at)}
    </span>
  );
}

function FreezeToggle() {
  const { freeze } = useWeb();
  const isFrozen = useFrozen();
  return (
    <button type="button" data-testid="freeze-toggle" aria-pressed={isFrozen} onClick={freeze.toggle}>
      {isFrozen ? "Frozen" : "Freeze"}
    </button>
  );
}

function WhoAmI() {
  const { identity, session, client } = useWeb();
  return (
    <>
      <span data-testid="whoami" title={clean(`${identity.actor}: ${identity.roles.join(", ")}`)}>
        <Theirs text={identity.name} /> <span className="quiet roles">{identity.roles.join(", ")}</span>
      </span>
      <button type="button" data-testid="logout" onClick={() => void session.logOut(() => client.logOut())}>
        Log out
      </button>
    </>
  );
}

function LoginOver() {
  const { session } = useWeb();
  return (
    <div role="alert" className="login-over">
      <p>
        <strong>LOGIN OVER</strong> What is shown is of then, and nothing can be done from here.
      </p>
      <button type="button" onClick={() => void session.renew()}>
        Log in again
      </button>
    </div>
  );
}

const loggedOutTitles = {
  asked: "Logging out",
  confirmed: "You are logged out",
  unconfirmed: "Logged out in this browser only",
} as const;

function LoggedOut() {
  const { session, identity } = useWeb();
  const serverEnd = useSyncExternalStore(session.subscribe, session.serverEnd);
  const deviceLogins = useSyncExternalStore(session.subscribe, session.deviceLogins);
  return (
    <main className="alone" data-testid="logged-out" data-server={serverEnd}>
      <h1>{loggedOutTitles[serverEnd]}</h1>
      <p>Every tab of this browser has left the desks. Nothing of them is kept here.</p>
      {new URL(identity.issuer).origin !== window.location.origin && (
        <p data-testid="issuers-login">
          The login at <bdi>{identity.issuer}</bdi> is that issuer’s and may go on: log out there as well.
        </p>
      )}
      {deviceLogins.length > 0 && (
        <div data-testid="device-logins">
          <p>What was approved in this browser is a login of its own and goes on:</p>
          <ul>
            {deviceLogins.map((login) => (
              <li key={login.session_id}>
                <Theirs text={login.program} /> from {login.address}, since {utcText(login.approved_at)}
              </li>
            ))}
          </ul>
          <p>
            It ends with <code>ctl auth logout</code> there, or when an administrator runs{" "}
            <code>ctl auth revoke-sessions</code>.
          </p>
        </div>
      )}
      {serverEnd === "asked" && (
        <p role="status">The server is being told. Until it has answered, this browser may still be let in.</p>
      )}
      {serverEnd === "unconfirmed" && (
        <p role="alert" className="note critical">
          The server did not confirm it: whoever opens this browser may still be logged in at it. Log in and out again,
          or close the browser.
        </p>
      )}
      <button type="button" onClick={() => void session.renew()}>
        Log in
      </button>
    </main>
  );
}
