import {
  auth as authorise,
  type AuthProvider,
  ClientCredentialsProvider,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
  type StoredOAuthTokens,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { SecretUse } from "../secret-bindings";
import type { RenewedTokens } from "./renewed-tokens";
import type { McpAuth } from "./server";

export type OAuthOptions = {
  auth: McpAuth;
  /** Address of the tool server. */
  url: string;
  /** The value of a secret that may be sent this way; throws `MissingSecretError` otherwise. */
  secretOf: (name: string, use: SecretUse) => Promise<string>;
  /** Why the latest request to an authorisation server was refused; `null` if it was sent. */
  refusal: () => Error | null;
  /** Stores renewed tokens beyond this connection. */
  renewed: RenewedTokens;
  /** Called with each set of tokens, because they are secrets. */
  onTokens: (tokens: StoredOAuthTokens) => void;
};

/** A person must consent again; the operator has to enter new tokens. */
export class MissingConsentError extends Error {
  override readonly name = "MissingConsentError";
}

/**
 * Creates the provider of bearer tokens. All data carries the issuer of the config, so the SDK
 * sends nothing to an authorisation server that the MCP server names instead.
 */
export function oauthProvider({
  auth,
  secretOf,
  ...options
}: OAuthOptions): OAuthClientProvider | AuthProvider {
  if (auth.type === "authorization_code")
    return oneAtATime(new GivenTokens({ auth, secretOf, ...options }));
  return withFreshSecret(auth, secretOf);
}

/**
 * The SDK's own flow, except that the secret is looked up for each token request, because it may
 * have been replaced.
 */
function withFreshSecret(
  auth: Extract<McpAuth, { type: "client_credentials" }>,
  secretOf: OAuthOptions["secretOf"],
): OAuthClientProvider {
  const { clientId, issuer, scope } = auth;
  const usual = new ClientCredentialsProvider({
    ...{ clientId, clientSecret: "", clientName: "massgen-edge", expectedIssuer: issuer },
    ...(scope !== null && { scope }),
  });
  return {
    redirectUrl: undefined,
    clientMetadata: usual.clientMetadata,
    clientInformation: async () => ({
      client_id: clientId,
      issuer,
      client_secret: await secretOf(auth.clientSecret, atIssuer(issuer)),
    }),
    tokens: () => usual.tokens(),
    saveTokens: (tokens) => usual.saveTokens(tokens),
    redirectToAuthorization: () => usual.redirectToAuthorization(),
    saveCodeVerifier: () => usual.saveCodeVerifier(),
    codeVerifier: () => usual.codeVerifier(),
    prepareTokenRequest: (wanted) => usual.prepareTokenRequest(wanted),
  };
}

/** Whether an endpoint may receive a secret is checked when it is sent. */
const atIssuer = (issuer: string): SecretUse => ({ url: issuer, method: null });

/**
 * A refresh token may be valid once, and the SDK would use it for each refused request. Here one
 * caller renews, and waiting callers use the result.
 */
const oneAtATime = (given: GivenTokens): AuthProvider => ({
  token: async () => (await given.tokens())?.access_token,
  onUnauthorized: async ({ response, serverUrl, fetchFn }) => {
    const refused = (await given.tokens())?.access_token;
    await given.inTurn(async () => {
      const now = (await given.tokens())?.access_token;
      if (now !== undefined && now !== refused) return;
      const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
      const challenge = {
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
        ...(scope !== undefined && { scope }),
      };
      if ((await authorise(given, { serverUrl, fetchFn, ...challenge })) !== "AUTHORIZED")
        throw new UnauthorizedError();
    });
  },
});

type ByCode = OAuthOptions & { auth: Extract<McpAuth, { type: "authorization_code" }> };

/**
 * Tokens from a person's consent elsewhere. They are renewed as long as the authorisation server
 * allows, never requested again.
 */
class GivenTokens implements OAuthClientProvider {
  readonly #options: ByCode;
  readonly #id: string;
  /**
   * The tokens in the operator's secrets when a renewal started. A replaced secret must not inherit
   * tokens renewed from the previous one.
   */
  #begunWith: StoredOAuthTokens | null = null;
  /** The issuer refuses these tokens, and those renewed from them. */
  #areRefused = false;
  // Marks the provider as interactive, so that expired tokens are renewed. A redirect is refused
  // below.
  readonly redirectUrl = "http://127.0.0.1/";
  readonly clientMetadata = {
    client_name: "massgen-edge",
    redirect_uris: [this.redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
  };

  constructor(options: ByCode) {
    this.#options = options;
    this.#id = JSON.stringify([options.url, options.auth]);
  }

  async clientInformation() {
    const { clientId, clientSecret, issuer } = this.#options.auth;
    return {
      client_id: clientId,
      issuer,
      ...(clientSecret !== null && {
        client_secret: await this.#options.secretOf(clientSecret, atIssuer(issuer)),
      }),
    };
  }

  /** From the current secrets. */
  async #given(): Promise<StoredOAuthTokens> {
    const { auth, url, secretOf } = this.#options;
    const { accessToken, refreshToken, issuer } = auth;
    return {
      // Without an access token, the first request gets a 401, which triggers a renewal.
      access_token:
        accessToken === null ? "" : await secretOf(accessToken, { url, method: "POST" }),
      token_type: "Bearer",
      issuer,
      ...(refreshToken !== null && {
        refresh_token: await secretOf(refreshToken, atIssuer(issuer)),
      }),
    };
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    if (this.#areRefused) return undefined;
    const given = await this.#given();
    this.#begunWith = given;
    const renewed = await this.#options.renewed.find(this.#id, given);
    if (renewed) this.#options.onTokens(renewed);
    return renewed ?? given;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    this.#options.onTokens(tokens);
    await this.#options.renewed.keep(this.#id, this.#begunWith ?? (await this.#given()), tokens);
    this.#areRefused = false;
  }

  inTurn(renew: () => Promise<void>): Promise<void> {
    return this.#options.renewed.inTurn(this.#id, renew);
  }

  invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): void {
    if (scope === "all" || scope === "tokens") this.#areRefused = true;
  }

  redirectToAuthorization(): never {
    // The SDK treats a renewal that was not sent like a failed one.
    const refusal = this.#options.refusal();
    if (refusal) throw refusal;
    throw new MissingConsentError(
      "its tokens are no longer taken: a person has to consent again, and the new tokens go into the config",
    );
  }

  saveCodeVerifier(): void {
    // Only the flow that `redirectToAuthorization` refuses needs a verifier.
  }

  codeVerifier(): never {
    throw new MissingConsentError("no flow of consent is under way");
  }
}
