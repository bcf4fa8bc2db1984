import { fillSecrets, secretsIn } from "../http/definition";
import type { SecretUse } from "../secret-bindings";
import { type McpEnvironment, MissingSecretError } from "./environment";
import type { McpAuth, McpServer } from "./server";
import { formsOf, redact, SHORTEST_SECRET } from "../../redaction/redact";

type Options = {
  server: McpServer;
  env: Pick<McpEnvironment, "secretOf">;
  /** Called with each secret that was looked up, so that it is never shown. Returns the secret. */
  onSecret: (secret: string) => string;
};

/**
 * The secrets for one server and its authorisation server. Each secret is looked up for the request
 * that contains it. So a replaced or deleted secret takes effect with the next request, and no
 * secret is sent to an address that the secret is not bound to.
 */
export class ServerSecrets {
  readonly #options: Options;
  readonly #issuerSecrets: readonly string[];
  #refusal: MissingSecretError | null = null;

  constructor(options: Options) {
    this.#options = options;
    this.#issuerSecrets = options.server.auth === null ? [] : secretsForIssuer(options.server.auth);
  }

  /** Why the last request to an authorisation server was refused; `null` if it was sent. */
  get refusal(): MissingSecretError | null {
    return this.#refusal;
  }

  /** Looks up a secret. Throws `MissingSecretError`. */
  readonly secretOf = async (name: string, use: SecretUse): Promise<string> => {
    const { env, onSecret } = this.#options;
    return onSecret(await env.secretOf(name, use));
  };

  /**
   * Returns the static headers of a request to the server. Throws `MissingSecretError` if a secret
   * is missing. The secrets for the server's OAuth tokens are checked too.
   */
  readonly headers = async (method: string): Promise<ReadonlyMap<string, string>> => {
    const { auth, headers, url } = this.#options.server;
    const use = { url, method };
    if (auth !== null) {
      for (const name of this.#issuerSecrets)
        await this.secretOf(name, { url: auth.issuer, method: null });
      if (auth.type === "authorization_code" && auth.accessToken !== null)
        await this.secretOf(auth.accessToken, use);
    }
    const names = [...new Set(Object.values(headers).flatMap(secretsIn))];
    const values = new Map<string, string>();
    for (const name of names) values.set(name, await this.secretOf(name, use));
    return new Map(
      Object.entries(headers).map(([name, value]) => [
        name,
        fillSecrets(value, (secret) => values.get(secret) ?? ""),
      ]),
    );
  };

  /**
   * Checks whether an endpoint of an authorisation server may receive the issuer's secrets. The
   * issuer's metadata chooses the endpoint, so each secret must be bound to its address. Throws
   * `MissingSecretError`.
   */
  readonly checkCredentials = async (use: { url: string; method: string }): Promise<void> => {
    try {
      this.#refusal = null;
      const { auth } = this.#options.server;
      const [endpointOrigin, issuerOrigin] = [
        new URL(use.url).origin,
        auth && new URL(auth.issuer).origin,
      ];
      if (this.#issuerSecrets.length === 0 && endpointOrigin !== issuerOrigin)
        throw new MissingSecretError(`nothing of it is bound to ${endpointOrigin}`);
      for (const name of this.#issuerSecrets) await this.secretOf(name, use);
    } catch (error) {
      if (error instanceof MissingSecretError) this.#refusal = error;
      throw error;
    }
  };
}

/** Names of the secrets that the issuer's endpoints receive. */
function secretsForIssuer(auth: McpAuth): string[] {
  const names =
    auth.type === "client_credentials"
      ? [auth.clientSecret]
      : [auth.clientSecret, auth.refreshToken];
  return names.filter((name) => name !== null);
}

/**
 * All credentials that a tool server and its authorisation server have received or issued. None of
 * them may appear in texts from these servers. The object is used longer than one connection,
 * because a call may continue after its connection is replaced.
 */
export class SentSecrets {
  readonly #all = new Set<string>();
  /** All encoded forms of the secrets. They are stored, because a listing may have many texts. */
  readonly #forms = new Set<string>();

  /** Adds a secret, and its form-encoded value. */
  add(secret: string): void {
    const formEncoded = new URLSearchParams([["", secret]]).toString().slice(1);
    // A very short value could be in any text by chance, so it is not removed from texts.
    for (const value of [secret, formEncoded])
      if (value.length >= SHORTEST_SECRET) this.#addWithForms(value);
  }

  /**
   * Adds the value of a header, with and without its scheme. For the scheme Basic, also adds the
   * decoded credentials.
   */
  addHeader(value: string): void {
    const [, scheme, credentials = ""] = /^(bearer|basic)(?:\s+(.*))?$/i.exec(value) ?? [];
    if (scheme !== undefined && credentials === "") return; // a scheme alone is not a secret
    this.add(value);
    this.add(credentials || (value.split(" ").at(-1) ?? ""));
    if (scheme?.toLowerCase() !== "basic") return;
    const decoded = Buffer.from(credentials, "base64").toString();
    this.add(decoded);
    this.add(decoded.slice(decoded.indexOf(":") + 1));
  }

  /** Whether a text contains a secret in one of its forms. */
  isIn(text: string): boolean {
    return [...this.#forms].some((form) => text.includes(form));
  }

  /** Whether bytes contain a secret as UTF-8 in one of its forms. */
  isInBytes({ buffer, byteOffset, byteLength }: Uint8Array): boolean {
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    return [...this.#forms].some((form) => bytes.includes(form));
  }

  /**
   * The text without secrets. If it contains a secret, all text that looks like a key is removed.
   */
  clean(text: string): string {
    return this.isIn(text) ? redact(text, [...this.#all]) : text;
  }

  #addWithForms(secret: string): void {
    if (this.#all.has(secret)) return;
    this.#all.add(secret);
    for (const form of formsOf(secret)) this.#forms.add(form);
  }
}
