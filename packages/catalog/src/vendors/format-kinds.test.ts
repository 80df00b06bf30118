/** Every kind of the vendor format that the catalog was given must have a vendor that uses it, and so a case that shows it. */
import type { AuthDefinition, BodyDefinition } from '@firsthand/core/vendor/definition.ts';
import { expect, test } from 'vitest';
import { loadVendors } from '../index.ts';

const VENDORS = await loadVendors();
const requests = VENDORS.flatMap((vendor) =>
  [...vendor.requests, ...(vendor.chain ?? [])].map((request) => ({ key: vendor.key, ...request })),
);

function authKinds(auth: AuthDefinition | undefined): AuthDefinition['kind'][] {
  if (auth === undefined) return [];
  const inner = auth.kind === 'choice' ? Object.values(auth.options) : auth.kind === 'mutual_tls' ? [auth.with] : [];
  return [auth.kind, ...inner.flatMap(authKinds)];
}
function bodyKinds(body: BodyDefinition): BodyDefinition['kind'][] {
  return body.kind === 'multipart' ? [body.kind, ...bodyKinds(body.file.content)] : [body.kind];
}
const usersOf = <Kind>(kindsOf: (request: (typeof requests)[number]) => Kind[]) =>
  Map.groupBy(
    requests.flatMap((request) => kindsOf(request).map((kind) => ({ kind, key: request.key }))),
    ({ kind }) => kind,
  );

test.each([
  ['oauth1', 'x'],
  ['oauth2_jwt_bearer', 'salesforce'],
  ['jwt', 'google_pubsub'],
  ['oauth2_client_credentials', 'adobe_edge'],
  ['oauth2_refresh_token', 'google_ads'],
  ['google_service_account', 'google_sheets'],
  ['aws_sigv4', 'amazon_sqs'],
  ['azure_service_bus_sas', 'azure_event_hubs'],
  ['mutual_tls', 'webhook'],
  ['hmac', 'webhook'],
  ['standard_webhooks', 'webhook'],
  ['header', 'yandex_offline_conversions'],
  ['query', 'snapchat'],
  ['basic', 'cordial'],
  ['bearer', 'braze'],
] as const)('auth kind %s is used by %s', (kind, key) => {
  const users = usersOf(({ auth }) => authKinds(auth)).get(kind) ?? [];
  expect(users.map((user) => user.key)).toContain(key);
});

test.each([
  ['xml', 'adobe_analytics'],
  ['multipart', 'yandex_offline_conversions'],
  ['csv', 'yandex_offline_conversions'],
  ['form_list', 'countly'],
  ['form', 'impact'],
  ['query', 'cj'],
] as const)('body kind %s is used by %s', (kind, key) => {
  const users = usersOf(({ body }) => bodyKinds(body)).get(kind) ?? [];
  expect(users.map((user) => user.key)).toContain(key);
});

test.each([
  ['Google', 'google_ads'],
  ['LinkedIn', 'linkedin'],
  ['Microsoft', 'microsoft_offline_conversions'],
  ['HubSpot', 'hubspot'],
  ['Salesforce', 'salesforce'],
])('%s connects %s', (provider, key) => {
  expect(VENDORS.filter(({ connect }) => connect?.provider === provider).map((vendor) => vendor.key)).toContain(key);
});
