// The pages as text: everything from outside is escaped, and what a person who cannot see or click needs is there.
import { describe, expect, test, vi } from "vitest";
import { html } from "./html.ts";
import { loadLibrary } from "./load-library.ts";
import { documentOf, type Page, pagePolicy } from "./page-frame.ts";
import {
  consentPage,
  deviceCodePage,
  deviceConfirmPage,
  deviceDeniedPage,
  deviceDonePage,
  errorPage,
  loggedOutPage,
  loginPage,
  logOutPage,
  stillLoggedInPage,
} from "./pages.ts";

const evil = `"><script>alert('x')</script>&`;
const device = { address: evil, program: evil, code: evil };
const form = { action: "/oidc/device", xsrf: evil, code: evil };

const pages: Readonly<Record<string, Page>> = {
  login: loginPage({ clientName: evil, name: evil, problem: { kind: "wrong" } }),
  consent: consentPage({
    clientName: evil,
    personName: evil,
    roles: [evil],
    scopes: ["openid", "profile", "offline_access", evil],
    sessionS: 43_200,
    logOutPath: "/oidc/session/end",
    device,
    returnsTo: evil,
  }),
  code: deviceCodePage(form, evil),
  confirm: deviceConfirmPage(form, evil, device),
  done: deviceDonePage(evil),
  denied: deviceDeniedPage(),
  logOut: logOutPage(form, evil),
  loggedOut: loggedOutPage(),
  stillLoggedIn: stillLoggedInPage(evil),
  error: errorPage(400, evil, evil),
};

describe("pages", () => {
  test.each(Object.entries(pages))("%s: nothing from outside becomes markup", (_name, page) => {
    const text = documentOf(page);
    expect(text).not.toContain("<script");
    expect(text).not.toContain(evil);
    expect(text).not.toMatch(/\son[a-z]+=/);
    expect(text).not.toMatch(/\sstyle=/);
  });

  test.each(Object.entries(pages))(
    "%s: has a language, a title, one heading, and a label for every field",
    (_name, page) => {
      const text = documentOf(page);
      expect(text).toContain('<html lang="en">');
      expect(text).toMatch(/<title>[^<]+ · Portcullis<\/title>/);
      expect(text.match(/<h1>/g)).toHaveLength(1);
      for (const [field] of text.matchAll(/<input(?![^>]*type="hidden")[^>]*>/g)) {
        const id = / id="([^"]+)"/.exec(field)?.[1] ?? "";
        expect(text).toContain(`<label for="${id}">`);
        expect(field).toMatch(/ autocomplete="/);
      }
    },
  );

  test("what a program calls itself is isolated, called its own word, and shows what nobody would see", () => {
    const program = "ctl\u202e \u0085 on a laptop";
    expect(documentOf(deviceConfirmPage(form, "x", { ...device, program }))).toContain(
      "<dt>Calls itself</dt><dd><bdi>ctl⟨U+202E⟩ ⟨U+0085⟩ on a laptop</bdi></dd>",
    );
  });

  test("a problem is an alert that takes the focus; without one the first field has it", () => {
    expect(documentOf(loginPage({ clientName: "x" }))).toMatch(/<input id="name"[^>]* autofocus>/);
    const wrong = documentOf(loginPage({ clientName: "x", problem: { kind: "throttled", retryAfterS: 120 } }));
    expect(wrong).toContain(
      '<p role="alert" tabindex="-1" autofocus>There were too many attempts. Try again in 2 minutes.</p>',
    );
    expect(wrong.match(/ autofocus/g)).toHaveLength(1);
  });

  test("the policy allows the stylesheet by its hash, no script, and forms to the named addresses only", () => {
    const policy = pagePolicy(["https://desk.example"]);
    expect(policy).toContain("script-src 'none'");
    expect(policy).toMatch(/style-src 'sha256-[A-Za-z0-9+/]{43}='/);
    expect(policy).toContain("form-action 'self' https://desk.example");
  });

  test("templates escape text and keep markup of other templates", () => {
    expect(html`<p>${"<"}${html`<b>${1}</b>`}${[html`<i>${"&"}</i>`]}${undefined}</p>`.markup).toBe(
      "<p>&lt;<b>1</b><i>&amp;</i></p>",
    );
  });
});

test("the library is opened without a word on the terminal", async () => {
  const said = [
    vi.spyOn(console, "warn"),
    vi.spyOn(console, "info"),
    vi.spyOn(console, "log"),
    vi.spyOn(console, "error"),
  ];
  vi.resetModules();
  const library = await loadLibrary();
  expect(library.Provider.name).toBe("Provider");
  expect(library.errors.InvalidGrant).toBeTypeOf("function");
  expect(library.AlreadyUsedError.name).toBe("AlreadyUsedError");
  expect(library.policy.base).toBeTypeOf("function");
  for (const spy of said) expect(spy).not.toHaveBeenCalled();
});
