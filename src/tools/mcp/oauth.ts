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
  /** Of the tool server. */
  url: string;
  /** The text of a secret of this name that may be sent so; throws `SecretMissing` if there is none. */
  secretOf: (name: string, use: SecretUse) => Promise<string>;
  /** Why the latest request to an authorisation server was not made; null if it was. */
  refusal: () => Error | null;
  /** Where tokens lie that were renewed, so that they outlive this connection. */
  renewed: RenewedTokens;
  /** Told of tokens that are renewed, or were: they are secrets. */
  heard: (tokens: StoredOAuthTokens) => void;
};

/** Nobody is here to consent: an operator has to bring new tokens. */
export class ConsentMissing extends Error {
  override readonly name = "ConsentMissing";
}

/**
 * What gives the client its bearer tokens. Everything is stamped with the issuer that the config names: the SDK sends nothing of it
 * to another authorisation server, whatever one the MCP server points to.
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

/** The SDK's own flow, but for its secret: that is looked up for each request of tokens, since it may have been replaced. */
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

/** Which of its endpoints gets a secret is judged when it is sent there. */
const atIssuer = (issuer: string): SecretUse => ({ url: issuer, method: null });

/**
 * A refresh token may serve once, and the SDK by itself would show it for each request that is refused: here one renews the tokens,
 * and whoever waited for that goes on with them.
 */
const oneAtATime = (given: GivenTokens): AuthProvider => ({
  token: async () => (await given.tokens())?.access_token,
  onUnauthorized: async ({ response, serverUrl, fetchFn }) => {
    const refused = (await given.tokens())?.access_token;
    await given.inTurn(async () => {
      const now = (await given.tokens())?.access_token;
      if (now !== undefined && now !== refused) return;
      const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
      const told = {
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
        ...(scope !== undefined && { scope }),
      };
      if ((await authorise(given, { serverUrl, fetchFn, ...told })) !== "AUTHORIZED")
        throw new UnauthorizedError();
    });
  },
});

type ByCode = OAuthOptions & { auth: Extract<McpAuth, { type: "authorization_code" }> };

/** Tokens that a person's consent gave, elsewhere. They are renewed as long as the authorisation server does so, never asked for anew. */
class GivenTokens implements OAuthClientProvider {
  readonly #options: ByCode;
  readonly #id: string;
  /** The tokens of the secrets that a renewal began with. A replaced secret must not inherit what came of the one before. */
  #begunWith: StoredOAuthTokens | null = null;
  /** The issuer takes them no more, nor those they were renewed to. */
  #areRefused = false;
  // An interactive provider, so that expired tokens are renewed; a redirect itself is refused below.
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

  /** As the secrets are now. */
  async #given(): Promise<StoredOAuthTokens> {
    const { auth, url, secretOf } = this.#options;
    const { accessToken, refreshToken, issuer } = auth;
    return {
      // Without an access token the first request is answered with 401, and that renews.
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
    if (renewed) this.#options.heard(renewed);
    return renewed ?? given;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    this.#options.heard(tokens);
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
    // The SDK takes a renewal that was not even sent for one that failed.
    const refusal = this.#options.refusal();
    if (refusal) throw refusal;
    throw new ConsentMissing(
      "its tokens are no longer taken: a person has to consent again, and the new tokens go into the config",
    );
  }

  saveCodeVerifier(): void {
    // The flow that needs one ends in the refusal above.
  }

  codeVerifier(): never {
    throw new ConsentMissing("no flow of consent is under way");
  }
}
