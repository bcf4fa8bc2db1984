/**
 * Whether the service's address guard refused a request, so that nothing was sent. Checked by name
 * or code, because the guard is in a higher layer, and the `fetch` of a tool may wrap the error in
 * a provider failure.
 */
export const isAddressRefused = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === "AddressRefusedError" || ("code" in error && error.code === "address_refused"));
