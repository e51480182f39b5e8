// The pages that a person sees: log in, approve or deny, enter a device's code, log out. Plain forms; each says who asks, for what and
// from where, and what happens next.
import { type Html, html } from "./html.ts";
import type { Page } from "./page-frame.ts";

/** Where a device's request came from, as far as we saw it. */
export interface DeviceFacts {
  readonly address: string;
  readonly program: string;
  readonly code: string;
}

interface LoginFacts {
  readonly clientName: string;
  /** Kept when the password was wrong. */
  readonly name?: string;
  readonly problem?: LoginProblem;
}

export type LoginProblem = { readonly kind: "wrong" } | { readonly kind: "throttled"; readonly retryAfterS: number };

export interface ApprovalNeeds {
  /** Unless it was typed on the page before. */
  readonly password: boolean;
  /** A one-time code, where the person has a second factor. */
  readonly code: boolean;
}

export interface ApprovalProblem {
  readonly sentence: string;
  readonly retryAfterS?: number | undefined;
}

interface ConsentFacts {
  readonly clientName: string;
  readonly personName: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  readonly sessionS: number;
  readonly logOutPath: string;
  /** What must be shown beside the click. */
  readonly needs?: ApprovalNeeds;
  readonly problem?: ApprovalProblem | undefined;
  /** Set when a device asked, else the address that the browser is sent back to. */
  readonly device?: DeviceFacts;
  readonly returnsTo?: string;
}

const alert = (sentence: string): Html => html`<p role="alert" tabindex="-1" autofocus>${sentence}</p>`;

function durationText(seconds: number): string {
  const [count, unit] =
    seconds < 120
      ? [seconds, "second"]
      : seconds < 7_200
        ? [Math.ceil(seconds / 60), "minute"]
        : [Math.ceil(seconds / 3_600), "hour"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

export function waitSentence(retryAfterS: number): string {
  return `There were too many attempts. Try again in ${durationText(retryAfterS)}.`;
}

function problemText(problem: LoginProblem): string {
  if (problem.kind === "wrong") return "That name and password do not match. Check both and try again.";
  return waitSentence(problem.retryAfterS);
}

export function loginPage({ clientName, name, problem }: LoginFacts): Page {
  const status = problem === undefined ? 200 : problem.kind === "wrong" ? 400 : 429;
  const focusName = problem === undefined ? html` autofocus` : undefined;
  return {
    status,
    title: problem === undefined ? "Log in" : "Login failed",
    ...(problem?.kind === "throttled" ? { headers: { "retry-after": String(problem.retryAfterS) } } : {}),
    body: html`<h1>Log in</h1>
<p class="quiet">to continue to <strong>${clientName}</strong></p>
${problem === undefined ? undefined : alert(problemText(problem))}
<form method="post">
<label for="name">Name</label>
<input id="name" name="name" value="${name ?? ""}" required maxlength="200" autocomplete="username" autocapitalize="none" spellcheck="false"${focusName}>
<label for="password">Password</label>
<input id="password" name="password" type="password" required maxlength="1024" autocomplete="current-password">
<div class="buttons">
<button name="decision" value="login">Log in</button>
<button name="decision" value="deny" class="other" formnovalidate>Cancel</button>
</div>
</form>`,
  };
}

/** What a scope lets a client do, in words. */
function scopeText(scope: string, facts: ConsentFacts): string | undefined {
  if (scope === "openid") return "Know that it is you";
  if (scope === "profile") return "See your name and your roles";
  if (scope === "offline_access") {
    const stays = `Stay logged in for up to ${durationText(facts.sessionS)}`;
    return facts.device === undefined ? stays : `${stays}, also after this browser logs out`;
  }
  return undefined;
}

function deviceRows(device: DeviceFacts): Html {
  return html`<dt>Code</dt><dd>${device.code}</dd>
${whoseRows(device)}`;
}

/** What it is called is its own word, whoever sent it. */
function whoseRows({ address, program }: DeviceFacts): Html {
  return html`<dt>Asked from</dt><dd>${address}</dd>
<dt>Calls itself</dt><dd><bdi>${program}</bdi></dd>`;
}

function needFields(needs: ApprovalNeeds): Html {
  const password = html`<label for="password">Your password</label>
<input id="password" name="password" type="password" required maxlength="1024" autocomplete="current-password">`;
  const code = html`<label for="code">Code of your authenticator, or a recovery code</label>
<input id="code" name="code" required maxlength="64" autocomplete="one-time-code" autocapitalize="none" spellcheck="false">`;
  const without = html`<p class="quiet">You have no second factor yet: until you set one up, it can do nothing that asks for one.</p>`;
  return html`${needs.password ? password : undefined}${needs.code ? code : without}`;
}

export function consentPage(facts: ConsentFacts): Page {
  const { clientName, personName, roles, device, returnsTo, needs, problem } = facts;
  const wants = facts.scopes.map((scope) => scopeText(scope, facts)).filter((text) => text !== undefined);
  const act = roles.length === 0 ? "Act in your name, without any role" : `Act in your name as ${roles.join(", ")}`;
  const retryAfterS = problem?.retryAfterS;
  return {
    status: problem === undefined ? 200 : retryAfterS === undefined ? 400 : 429,
    title: problem === undefined ? "Approve or deny" : "Not approved yet",
    ...(retryAfterS === undefined ? {} : { headers: { "retry-after": String(Math.ceil(retryAfterS)) } }),
    body: html`<h1>Let ${clientName} in?</h1>
${problem === undefined ? undefined : alert(problem.sentence)}
<p class="quiet">You are logged in as <strong>${personName}</strong>. Not you? <a href="${facts.logOutPath}">Log out first</a>.</p>
<dl>
<dt>Who asks</dt><dd>${clientName}</dd>
${device === undefined ? undefined : deviceRows(device)}
${returnsTo === undefined ? undefined : html`<dt>Returns to</dt><dd>${returnsTo}</dd>`}
</dl>
<p>It wants to:</p>
<ul>${[...wants, act].map((text) => html`<li>${text}</li>`)}</ul>
${device === undefined ? undefined : html`<p class="quiet">Deny if you did not start this yourself: whoever did would act in your name.</p>`}
<form method="post">
${needs === undefined ? undefined : needFields(needs)}
<div class="buttons">
<button name="decision" value="approve">Approve</button>
<button name="decision" value="deny" class="other" formnovalidate>Deny</button>
</div>
</form>`,
  };
}

export interface DeviceForm {
  readonly action: string;
  readonly xsrf: string;
  readonly code?: string;
}

export function deviceCodePage(form: DeviceForm, problem?: string): Page {
  return {
    status: problem === undefined ? 200 : 400,
    title: problem === undefined ? "Connect a device" : "Code not accepted",
    body: html`<h1>Connect a device</h1>
<p id="help">Enter the code that the program on your device shows.</p>
${problem === undefined ? undefined : alert(problem)}
<form method="post" action="${form.action}">
<input type="hidden" name="xsrf" value="${form.xsrf}">
<label for="user_code">Code</label>
<input id="user_code" class="code" name="user_code" value="${form.code ?? ""}" required maxlength="32" placeholder="XXXX-XXXX" aria-describedby="help" autocomplete="off" autocapitalize="characters" spellcheck="false"${problem === undefined ? html` autofocus` : undefined}>
<div class="buttons"><button>Continue</button></div>
</form>`,
  };
}

export function deviceConfirmPage(form: DeviceForm, clientName: string, device: DeviceFacts): Page {
  return {
    status: 200,
    title: "Is this you?",
    body: html`<h1>Is this you?</h1>
<p><strong>${clientName}</strong> asks to be let in. Your device must show this code:</p>
<p class="userCode">${device.code}</p>
<dl>
${whoseRows(device)}
</dl>
<p class="quiet">If somebody sent you the code or this link, it is not yours: choose “No”.</p>
<form method="post" action="${form.action}" class="buttons">
<input type="hidden" name="xsrf" value="${form.xsrf}">
<input type="hidden" name="user_code" value="${form.code ?? device.code}">
<button name="confirm" value="yes">Yes, continue</button>
<button name="abort" value="yes" class="other">No</button>
</form>`,
  };
}

function closingPage(title: string, sentence: string, status = 200): Page {
  return {
    status,
    title,
    body: html`<h1>${title}</h1>
<p role="status">${sentence}</p>
<p class="quiet">You can close this window.</p>`,
  };
}

export const deviceDonePage = (clientName: string): Page =>
  closingPage("You are logged in", `${clientName} continues on your device within a few seconds.`);

export const deviceDeniedPage = (): Page => closingPage("Denied", "The device was not let in.");

export const stillLoggedInPage = (personName: string): Page =>
  closingPage("You are still logged in", `This browser keeps the login of ${personName}.`);

export const loggedOutPage = (): Page => closingPage("You are logged out", "This browser has no login any more.");

export function logOutPage(form: DeviceForm, personName: string): Page {
  return {
    status: 200,
    title: "Log out",
    body: html`<h1>Log out?</h1>
<p>You are logged in as <strong>${personName}</strong>. Logging out ends the web desk’s session in this browser; programs on your devices stay logged in until you log out there.</p>
<form method="post" action="${form.action}" class="buttons">
<input type="hidden" name="xsrf" value="${form.xsrf}">
<button name="logout" value="yes">Log out</button>
<button class="other">Stay logged in</button>
</form>`,
  };
}

export function errorPage(status: number, sentence: string, code: string): Page {
  return {
    status,
    title: "This did not work",
    body: html`<h1>This did not work</h1>
${alert(sentence)}
<p class="quiet">Go back to the program or page that sent you here and start again. (${code})</p>`,
  };
}
