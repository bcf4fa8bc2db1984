import { fillSecrets, secretsIn } from "../http/definition";
import type { SecretUse } from "../secret-bindings";
import { type McpEnvironment, MissingSecretError } from "./environment";
import type { McpAuth, McpServer } from "./server";
import { formsOf, redact, SHORTEST_SECRET } from "../../redaction/redact";

type Options = {
  server: McpServer;
  env: Pick<McpEnvironment, "secretOf">;
  /** Called with each secret that was looked up, so that it is never shown. */
  kept: (secret: string) => string;
};

/**
 * Secrets for one server and its authorisation server. Each is looked up for the request that
 * carries it. So a replaced or deleted secret takes effect with the next request, and none is sent
 * to an address that it is not bound to.
 */
export class ServerSecrets {
  readonly #options: Options;
  readonly #toIssuer: readonly string[];
  #refusal: MissingSecretError | null = null;

  constructor(options: Options) {
    this.#options = options;
    this.#toIssuer = options.server.auth === null ? [] : shownToIssuer(options.server.auth);
  }

  /** Why the latest request to an authorisation server was refused; `null` if it was sent. */
  get refusal(): MissingSecretError | null {
    return this.#refusal;
  }

  /** Throws `MissingSecretError`. */
  readonly secretOf = async (name: string, use: SecretUse): Promise<string> => {
    const { env, kept } = this.#options;
    return kept(await env.secretOf(name, use));
  };

  /**
   * The static headers of a request to the server. Throws `MissingSecretError`, also for a
   * secret behind its tokens.
   */
  readonly headers = async (method: string): Promise<ReadonlyMap<string, string>> => {
    const { auth, headers, url } = this.#options.server;
    const use = { url, method };
    if (auth !== null) {
      for (const name of this.#toIssuer)
        await this.secretOf(name, { url: auth.issuer, method: null });
      if (auth.type === "authorization_code" && auth.accessToken !== null)
        await this.secretOf(auth.accessToken, use);
    }
    const names = [...new Set(Object.values(headers).flatMap(secretsIn))];
    const found = new Map<string, string>();
    for (const name of names) found.set(name, await this.secretOf(name, use));
    return new Map(
      Object.entries(headers).map(([name, value]) => [
        name,
        fillSecrets(value, (secret) => found.get(secret) ?? ""),
      ]),
    );
  };

  /**
   * Checks whether an authorisation server's endpoint may receive the issuer's secrets. All of them
   * must be bound to that address, which the issuer's metadata chooses. Throws
   * `MissingSecretError`.
   */
  readonly mayShow = async (use: { url: string; method: string }): Promise<void> => {
    try {
      this.#refusal = null;
      const { auth } = this.#options.server;
      const [asked, issuer] = [new URL(use.url).origin, auth && new URL(auth.issuer).origin];
      if (this.#toIssuer.length === 0 && asked !== issuer)
        throw new MissingSecretError(`nothing of it is bound to ${asked}`);
      for (const name of this.#toIssuer) await this.secretOf(name, use);
    } catch (error) {
      if (error instanceof MissingSecretError) this.#refusal = error;
      throw error;
    }
  };
}

/** Names of secrets that an issuer's endpoints receive. */
function shownToIssuer(auth: McpAuth): string[] {
  const names =
    auth.type === "client_credentials"
      ? [auth.clientSecret]
      : [auth.clientSecret, auth.refreshToken];
  return names.filter((name) => name !== null);
}

/**
 * Credentials that a tool server and its authorisation server received or issued. None may appear
 * in texts from these servers. Outlives connections, as calls may.
 */
export class SentSecrets {
  readonly #all = new Set<string>();
  /** All encoded forms of the secrets. Stored, because a listing may have thousands of texts. */
  readonly #forms = new Set<string>();

  /** Adds a secret, also in form encoding. */
  add(secret: string): void {
    const inForm = new URLSearchParams([["", secret]]).toString().slice(1);
    // Short values could occur in any text.
    for (const one of [secret, inForm]) if (one.length >= SHORTEST_SECRET) this.#keep(one);
  }

  /**
   * Adds a header's value, whole and without its scheme; for Basic also the decoded credentials.
   */
  addHeader(value: string): void {
    const [, scheme, rest = ""] = /^(bearer|basic)(?:\s+(.*))?$/i.exec(value) ?? [];
    if (scheme !== undefined && rest === "") return; // a scheme without a value is not secret
    this.add(value);
    this.add(rest || (value.split(" ").at(-1) ?? ""));
    if (scheme?.toLowerCase() !== "basic") return;
    const decoded = Buffer.from(rest, "base64").toString();
    this.add(decoded);
    this.add(decoded.slice(decoded.indexOf(":") + 1));
  }

  /** Whether a text contains a secret in any form. */
  isIn(text: string): boolean {
    return [...this.#forms].some((form) => text.includes(form));
  }

  /** Whether bytes contain a secret as UTF-8 in any form. */
  isInBytes({ buffer, byteOffset, byteLength }: Uint8Array): boolean {
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    return [...this.#forms].some((form) => bytes.includes(form));
  }

  /**
   * The text without secrets. If it contains one, everything that looks like a key is removed too.
   */
  clean(text: string): string {
    return this.isIn(text) ? redact(text, [...this.#all]) : text;
  }

  #keep(secret: string): void {
    if (this.#all.has(secret)) return;
    this.#all.add(secret);
    for (const form of formsOf(secret)) this.#forms.add(form);
  }
}
