/**
 * Whether a request failed because the service's guard of addresses refused it, so that nothing left. By name or code, since the guard
 * lies above the tools, and the `fetch` they are given may say it in the words of the providers' failures. Any thrown value is taken.
 */
export const isAddressRefused = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === "AddressRefused" || ("code" in error && error.code === "address_refused"));
