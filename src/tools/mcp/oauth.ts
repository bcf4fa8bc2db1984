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
  /**
   * Returns a secret if it may be sent with this request; otherwise throws `MissingSecretError`.
   */
  secretOf: (name: string, use: SecretUse) => Promise<string>;
  /** Returns why the last request to an authorisation server was refused; `null` if it was sent. */
  refusal: () => Error | null;
  /** Stores renewed tokens for longer than this connection exists. */
  renewed: RenewedTokens;
  /** Called with all tokens, so that they are treated as secrets. */
  onTokens: (tokens: StoredOAuthTokens) => void;
};

/** A person must consent again, and the operator must enter the new tokens. */
export class MissingConsentError extends Error {
  override readonly name = "MissingConsentError";
}

/**
 * Creates the provider of bearer tokens. The MCP server may name an authorisation server that is
 * not in the config. All data of the provider contains the issuer of the config, so the SDK sends
 * nothing to a server that is not this issuer.
 */
export function oauthProvider({
  auth,
  secretOf,
  ...options
}: OAuthOptions): OAuthClientProvider | AuthProvider {
  if (auth.type === "authorization_code")
    return serializedRenewal(new ConsentedTokens({ auth, secretOf, ...options }));
  return clientCredentials(auth, secretOf);
}

/**
 * The SDK's flow with client credentials. Unlike the SDK, this provider looks up the secret for
 * each token request, because the operator may have replaced the secret.
 */
function clientCredentials(
  auth: Extract<McpAuth, { type: "client_credentials" }>,
  secretOf: OAuthOptions["secretOf"],
): OAuthClientProvider {
  const { clientId, issuer, scope } = auth;
  const sdkProvider = new ClientCredentialsProvider({
    ...{ clientId, clientSecret: "", clientName: "massgen-edge", expectedIssuer: issuer },
    ...(scope !== null && { scope }),
  });
  return {
    redirectUrl: undefined,
    clientMetadata: sdkProvider.clientMetadata,
    clientInformation: async () => ({
      client_id: clientId,
      issuer,
      client_secret: await secretOf(auth.clientSecret, useAtIssuer(issuer)),
    }),
    tokens: () => sdkProvider.tokens(),
    saveTokens: (tokens) => sdkProvider.saveTokens(tokens),
    redirectToAuthorization: () => sdkProvider.redirectToAuthorization(),
    saveCodeVerifier: () => sdkProvider.saveCodeVerifier(),
    codeVerifier: () => sdkProvider.codeVerifier(),
    prepareTokenRequest: (wanted) => sdkProvider.prepareTokenRequest(wanted),
  };
}

/**
 * The use of a secret at the issuer. Whether an endpoint may receive it is checked when it is sent.
 */
const useAtIssuer = (issuer: string): SecretUse => ({ url: issuer, method: null });

/**
 * A provider that renews tokens once for all callers. A refresh token may be valid only once, but
 * the SDK would use it for each refused request. Here one caller renews the tokens, and the other
 * callers wait and use the result.
 */
const serializedRenewal = (consented: ConsentedTokens): AuthProvider => ({
  token: async () => (await consented.tokens())?.access_token,
  onUnauthorized: async ({ response, serverUrl, fetchFn }) => {
    const refused = (await consented.tokens())?.access_token;
    await consented.inTurn(async () => {
      const currentToken = (await consented.tokens())?.access_token;
      if (currentToken !== undefined && currentToken !== refused) return;
      const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
      const challenge = {
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
        ...(scope !== undefined && { scope }),
      };
      if ((await authorise(consented, { serverUrl, fetchFn, ...challenge })) !== "AUTHORIZED")
        throw new UnauthorizedError();
    });
  },
});

type CodeOptions = OAuthOptions & { auth: Extract<McpAuth, { type: "authorization_code" }> };

/**
 * Tokens from the operator's secrets: a person has consented outside of this service. The tokens
 * are renewed as long as the authorisation server allows it. The service never asks for consent.
 */
class ConsentedTokens implements OAuthClientProvider {
  readonly #options: CodeOptions;
  readonly #id: string;
  /**
   * The operator's tokens at the start of a renewal. Renewed tokens are stored for these tokens
   * only, so that they are not used after the operator has replaced a secret.
   */
  #renewedFrom: StoredOAuthTokens | null = null;
  /** Whether the issuer refuses the operator's tokens and the tokens renewed from them. */
  #areTokensRefused = false;
  // With this URL, the SDK treats the provider as interactive and renews expired tokens.
  // `redirectToAuthorization` refuses the redirect.
  readonly redirectUrl = "http://127.0.0.1/";
  readonly clientMetadata = {
    client_name: "massgen-edge",
    redirect_uris: [this.redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
  };

  constructor(options: CodeOptions) {
    this.#options = options;
    this.#id = JSON.stringify([options.url, options.auth]);
  }

  async clientInformation() {
    const { clientId, clientSecret, issuer } = this.#options.auth;
    return {
      client_id: clientId,
      issuer,
      ...(clientSecret !== null && {
        client_secret: await this.#options.secretOf(clientSecret, useAtIssuer(issuer)),
      }),
    };
  }

  /** The operator's tokens in the current secrets. */
  async #currentTokens(): Promise<StoredOAuthTokens> {
    const { auth, url, secretOf } = this.#options;
    const { accessToken, refreshToken, issuer } = auth;
    return {
      // Without an access token, the first request gets a 401, which triggers a renewal.
      access_token:
        accessToken === null ? "" : await secretOf(accessToken, { url, method: "POST" }),
      token_type: "Bearer",
      issuer,
      ...(refreshToken !== null && {
        refresh_token: await secretOf(refreshToken, useAtIssuer(issuer)),
      }),
    };
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    if (this.#areTokensRefused) return undefined;
    const consented = await this.#currentTokens();
    this.#renewedFrom = consented;
    const renewed = await this.#options.renewed.find(this.#id, consented);
    if (renewed) this.#options.onTokens(renewed);
    return renewed ?? consented;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    this.#options.onTokens(tokens);
    await this.#options.renewed.keep(
      this.#id,
      this.#renewedFrom ?? (await this.#currentTokens()),
      tokens,
    );
    this.#areTokensRefused = false;
  }

  inTurn(renew: () => Promise<void>): Promise<void> {
    return this.#options.renewed.inTurn(this.#id, renew);
  }

  invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): void {
    if (scope === "all" || scope === "tokens") this.#areTokensRefused = true;
  }

  redirectToAuthorization(): never {
    // The SDK also calls this method if the renewal was not sent, because a secret is not bound.
    const refusal = this.#options.refusal();
    if (refusal) throw refusal;
    throw new MissingConsentError(
      "its tokens are no longer taken: a person has to consent again, and the new tokens go into the config",
    );
  }

  saveCodeVerifier(): void {
    // Not needed: `redirectToAuthorization` refuses the only flow that needs a verifier.
  }

  codeVerifier(): never {
    throw new MissingConsentError("no flow of consent is under way");
  }
}
