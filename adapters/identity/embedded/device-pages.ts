// The library's own pages, in our look: a device's code, its confirmation, the end of it, logging out, and what went wrong.
import type { ErrorOut, KoaContextWithOIDC, UnknownObject } from "oidc-provider";
import { documentOf, type Page, pageHeaders } from "./page-frame.ts";
import {
  type DeviceFacts,
  type DeviceForm,
  deviceCodePage,
  deviceConfirmPage,
  deviceDeniedPage,
  deviceDonePage,
  errorPage,
  loggedOutPage,
  logOutPage,
  stillLoggedInPage,
} from "./pages.ts";
import { remoteAddressOf } from "./request-scope.ts";

const programLengthMax = 120;

/** What we keep of who asked for a device's code, to show it to whoever is asked to approve. */
export function deviceInfoOf(context: KoaContextWithOIDC): UnknownObject {
  return { address: remoteAddressOf(context.req), program: context.get("user-agent").slice(0, programLengthMax) };
}

export function deviceFactsOf(info: UnknownObject | undefined, code: string): DeviceFacts {
  const text = (value: unknown): string => (typeof value === "string" && value !== "" ? value : "unknown");
  const shown = /^[A-Z]{8}$/.test(code) ? `${code.slice(0, 4)}-${code.slice(4)}` : code;
  return { address: text(info?.["address"]), program: text(info?.["program"]), code: shown };
}

function formOf(context: KoaContextWithOIDC, action: string, code?: string): DeviceForm {
  const secret = context.oidc.session?.state?.["secret"];
  return {
    action: context.oidc.provider.pathFor(action),
    xsrf: typeof secret === "string" ? secret : "",
    ...(code === undefined ? {} : { code }),
  };
}

const codeProblems: Readonly<Record<string, string>> = {
  NoCodeError: "Enter the code first.",
  NotFoundError: "There is no such code. Check it, or ask your device for a new one.",
  ExpiredError: "This code has expired. Ask your device for a new one.",
  AlreadyUsedError: "This code has been used. Ask your device for a new one.",
};

export function libraryPages(formOrigins: readonly string[]) {
  function show(context: KoaContextWithOIDC, page: Page): void {
    context.set({ ...pageHeaders(formOrigins), ...page.headers });
    context.status = page.status;
    context.type = "html";
    context.body = documentOf(page);
  }

  return {
    userCodeInputSource(context: KoaContextWithOIDC, _form: string, _out?: ErrorOut, error?: Error): void {
      if (error?.name === "AbortedError") {
        show(context, deviceDeniedPage());
        return;
      }
      const typed = (error as { readonly userCode?: string } | undefined)?.userCode;
      const known = error === undefined ? undefined : codeProblems[error.name];
      const page = deviceCodePage(
        formOf(context, "code_verification", typed),
        error === undefined ? undefined : (known ?? "This did not work. Try again."),
      );
      // What is not about the code keeps the status that the library gave it.
      show(context, error === undefined || known !== undefined ? page : { ...page, status: context.status });
    },
    userCodeConfirmSource(
      context: KoaContextWithOIDC,
      _form: string,
      client: { readonly clientName?: string | undefined; readonly clientId: string },
      info: UnknownObject,
      userCode: string,
    ): void {
      const facts = deviceFactsOf(info, userCode);
      const form = formOf(context, "code_verification", userCode);
      show(context, deviceConfirmPage(form, client.clientName ?? client.clientId, facts));
    },
    successSource(context: KoaContextWithOIDC): void {
      show(context, deviceDonePage(context.oidc.client?.clientName ?? "The program"));
    },
    logoutSource(context: KoaContextWithOIDC): void {
      show(context, logOutPage(formOf(context, "end_session_confirm"), context.oidc.session?.accountId ?? ""));
    },
    async postLogoutSuccessSource(context: KoaContextWithOIDC): Promise<void> {
      // The library comes here also when somebody chose to stay.
      const { accountId } = await context.oidc.provider.Session.get(context);
      show(context, accountId === undefined ? loggedOutPage() : stillLoggedInPage(accountId));
    },
    startAgain(context: KoaContextWithOIDC): void {
      show(context, errorPage(400, "This form has expired, or your browser keeps no cookies.", "session_not_found"));
    },
    renderError(context: KoaContextWithOIDC, out: ErrorOut): void {
      show(context, errorPage(context.status, sentenceOf(out), out.error));
    },
  };
}

function sentenceOf(out: ErrorOut): string {
  if (out.error === "server_error") return "Something went wrong on our side. Try again in a moment.";
  const text = out.error_description ?? out.error;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
