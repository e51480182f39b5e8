// HTTP routes as data: the gateway declares them, the HTTP adapter mounts them on the listener that they name.
export interface HttpRequest {
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: unknown;
}

export interface HttpAnswer {
  readonly status: number;
  /** An object is sent as JSON (as problem+json from status 400 on); a string is sent as it is with `contentType`. */
  readonly body: object | string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Listener = "operator" | "public";

export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly listeners: readonly Listener[];
  /** One human sentence, for the reference and OpenAPI. */
  readonly sentence: string;
  handle(request: HttpRequest): Promise<HttpAnswer>;
}
