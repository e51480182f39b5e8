// The client's methods as types, made from the generated OpenAPI types: one method per operation, its path, query and body
// parameters together in one object with camelCase names, its answer as the server sends it.
import type { CallOptions } from "./call-options.ts";
import type { EventsAsked, EventsOptions, EventsReset, PlatformEvent } from "./events.ts";
import type { operations } from "./generated/api.ts";
import type { operations as publicOperations } from "./generated/public-api.ts";
import type { StreamAsked, StreamItem } from "./stream.ts";

export type OperationId = keyof operations;

type CamelCase<Text extends string> = Text extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Text;

type CamelKeys<Value> = { [Key in keyof Value as Key extends string ? CamelCase<Key> : never]: Value[Key] };

type Group<Operation, Name extends "path" | "query"> = Operation extends { parameters: { [Key in Name]: infer Value } }
  ? Value
  : Operation extends { parameters: { [Key in Name]?: infer Value } }
    ? Exclude<Value, undefined>
    : unknown;

type Body<Operation> = Operation extends { requestBody: { content: { "application/json": infer Value } } }
  ? Value
  : Operation extends { requestBody?: { content: { "application/json": infer Value } } }
    ? Partial<Value>
    : unknown;

/** A group that an operation does not have is `never` in the generated types, and adds nothing here. */
type Given<Value> = [Value] extends [never] ? unknown : Value;

type Flat<Value> = { [Key in keyof Value]: Value[Key] };

type ArgumentsIn<Operation> = Flat<
  CamelKeys<Given<Group<Operation, "path">> & Given<Group<Operation, "query">> & Given<Body<Operation>>>
>;

export type ArgumentsOf<Id extends OperationId> = ArgumentsIn<operations[Id]>;

type ContentOf<Response> = Response extends { content: infer Content } ? Content[keyof Content] : never;

type AnswerIn<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Status in keyof Responses]: Status extends 200 | 201 | 202 ? ContentOf<Responses[Status]> : never;
    }[keyof Responses]
  : never;

/** What a call resolves to: the answer of any status below 300. */
export type AnswerOf<Id extends OperationId> = AnswerIn<operations[Id]>;

type Method<Operation> =
  Record<never, never> extends ArgumentsIn<Operation>
    ? (given?: ArgumentsIn<Operation>, options?: CallOptions) => Promise<AnswerIn<Operation>>
    : (given: ArgumentsIn<Operation>, options?: CallOptions) => Promise<AnswerIn<Operation>>;

type Methods<Operations> = { readonly [Id in keyof Operations]: Method<Operations[Id]> };

interface Pages<Operations> {
  /** A list page by page: `for await (const page of client.pages("listOrders", { fundId: "alpha" }))`. */
  pages<Id extends keyof Operations>(
    id: Id,
    given?: ArgumentsIn<Operations[Id]>,
    options?: CallOptions,
  ): AsyncIterableIterator<AnswerIn<Operations[Id]>>;
}

export interface ReportDocumentAsked {
  readonly reportId: string;
  /** html, pdf, json or csv; the one that was asked for when absent. */
  readonly format?: string | undefined;
}

export type Client = Methods<operations> &
  Pages<operations> & {
    /** A report's document, byte for byte as it was made. */
    reportDocument(asked: ReportDocumentAsked, options?: CallOptions): Promise<Uint8Array>;
    /** What happens on the platform, as it happens; reconnects by itself and misses nothing that the server still keeps. */
    events(asked?: EventsAsked, options?: EventsOptions): AsyncIterableIterator<PlatformEvent | EventsReset>;
  };

/** getPublicQuote is getQuote here: there is nothing else. */
type PublicName<Id> = Id extends `getPublic${infer Rest}` ? `get${Rest}` : Id;

type PublicMethods = { [Id in keyof publicOperations as PublicName<Id>]: publicOperations[Id] };

export type PublicOperationId = keyof PublicMethods;

export type PublicClient = Methods<PublicMethods> &
  Pages<PublicMethods> & {
    /** Prices, funds and halts as they change; reconnects by itself and resumes. */
    stream(asked: StreamAsked, options?: Pick<CallOptions, "signal">): AsyncIterableIterator<StreamItem>;
  };
