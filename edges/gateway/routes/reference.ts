// The descriptions of both listeners beside OpenAPI: AsyncAPI for programs, and one page for people with its style. Nobody needs a login to read them.
import type { Listener, Route } from "../../../ports/http.ts";
import { defineRoute } from "../define-route.ts";
import { keptDocument } from "../kept-document.ts";
import type { GatewayParts } from "../parts.ts";
import { publicCost } from "../public-data.ts";
import { type ReferenceDocument, referencePage } from "../reference/reference-page.ts";
import { referenceStyle } from "../reference/reference-style.ts";
import { asyncApiAnswer } from "../schemas/platform.ts";

type Parts = Pick<GatewayParts, "openApi" | "publicOpenApi" | "login" | "publicUrl" | "inSlices">;

/** A page without scripts, pictures or frames: only its own style is loaded. */
const pageHeaders = {
  "content-security-policy":
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

const asyncApiOn = (id: string, listener: Listener, parts: Pick<GatewayParts, "asyncApi">): Route =>
  defineRoute({
    id,
    method: "GET",
    path: "/v1/asyncapi.json",
    listeners: [listener],
    sentence: "The streams and the events as an AsyncAPI document.",
    operation: "ReadSchema",
    ...costOn(listener),
    answers: { 200: asyncApiAnswer },
    document: true,
    handle: keptDocument({
      contentType: "application/json; charset=utf-8",
      make: async () => JSON.stringify(await parts.asyncApi()),
    }),
  });

const styleOn = (id: string, listener: Listener): Route =>
  defineRoute({
    id,
    method: "GET",
    path: "/docs/style.css",
    listeners: [listener],
    sentence: "The style of the reference.",
    operation: "ReadSchema",
    ...costOn(listener),
    answers: { 200: "css" },
    document: true,
    handle: keptDocument({ contentType: "text/css; charset=utf-8", make: async () => referenceStyle }),
  });

const pageOn = (id: string, listener: Listener, make: () => Promise<string>): Route =>
  defineRoute({
    id,
    method: "GET",
    path: "/docs",
    listeners: [listener],
    sentence: "This reference, for people.",
    operation: "ReadSchema",
    ...costOn(listener),
    answers: { 200: "html" },
    document: true,
    handle: keptDocument({ contentType: "text/html; charset=utf-8", headers: pageHeaders, make }),
  });

const costOn = (listener: Listener) => (listener === "public" ? { publicCost } : {});

export const asyncApi = (parts: Pick<GatewayParts, "asyncApi">): Route => asyncApiOn("getAsyncApi", "operator", parts);
export const publicAsyncApi = (parts: Pick<GatewayParts, "asyncApi">): Route =>
  asyncApiOn("getPublicAsyncApi", "public", parts);
export const referenceStyleSheet = (): Route => styleOn("getReferenceStyle", "operator");
export const publicReferenceStyleSheet = (): Route => styleOn("getPublicReferenceStyle", "public");

export const reference = (parts: Parts): Route =>
  pageOn("getReference", "operator", async () =>
    // Both documents are ours, made from the routes.
    parts.inSlices(referencePage((await parts.openApi()) as ReferenceDocument, parts.login.resource())),
  );
export const publicReference = (parts: Parts): Route =>
  pageOn("getPublicReference", "public", async () =>
    parts.inSlices(referencePage((await parts.publicOpenApi()) as ReferenceDocument, parts.publicUrl())),
  );
