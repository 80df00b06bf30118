/**
 * OAuth providers, each described once. A vendor names its scopes; its config has the fields `client_id`, `client_secret` and
 * `refresh_token` of the organisation's own client. Read on 2026-11-16:
 * developers.google.com/identity/protocols/oauth2/web-server, learn.microsoft.com/linkedin/shared/authentication/authorization-code-flow,
 * learn.microsoft.com/advertising/guides/authentication-oauth, developers.hubspot.com/docs/api-reference/2026-03/authentication/manage-oauth-tokens,
 * help.salesforce.com "OAuth 2.0 Web Server Flow".
 */
import type { AuthDefinition, ConfigField, ConnectDefinition } from '@firsthand/core/vendor/definition.ts';

type Provider = Omit<ConnectDefinition, 'scopes' | 'client_id' | 'client_secret' | 'refresh_token_field'>;

const PROVIDERS = {
  // Without `prompt=consent` Google sends a refresh token only the first time.
  google: {
    provider: 'Google',
    authorize_url: 'https://accounts.google.com/o/oauth2/v2/auth',
    token_url: 'https://oauth2.googleapis.com/token',
    extra: { access_type: 'offline', prompt: 'consent' },
  },
  // PKCE is for native apps only, and LinkedIn must enable it.
  linkedin: {
    provider: 'LinkedIn',
    authorize_url: 'https://www.linkedin.com/oauth/v2/authorization',
    token_url: 'https://www.linkedin.com/oauth/v2/accessToken',
    pkce: false,
  },
  microsoft: {
    provider: 'Microsoft',
    authorize_url: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    token_url: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
  },
  // HubSpot's guide describes no PKCE. The token endpoint v1 ends on February 16, 2027.
  hubspot: {
    provider: 'HubSpot',
    authorize_url: 'https://app.hubspot.com/oauth/authorize',
    token_url: 'https://api.hubapi.com/oauth/2026-03/token',
    pkce: false,
  },
  /** The config field `login_url` holds the My Domain address. */
  salesforce: {
    provider: 'Salesforce',
    authorize_url: '{{parameters.login_url}}/services/oauth2/authorize',
    token_url: '{{parameters.login_url}}/services/oauth2/token',
  },
} as const satisfies Record<string, Provider>;
export type OAuthProvider = keyof typeof PROVIDERS;

const CLIENT = { client_id: '{{parameters.client_id}}', client_secret: '{{parameters.client_secret}}' };

/** The connect flow. `sets`: further fields that a connection sets, such as the auth method. */
export function connectTo(provider: OAuthProvider, scopes: string[], sets?: Record<string, string>): ConnectDefinition {
  return { ...PROVIDERS[provider], ...CLIENT, scopes, refresh_token_field: 'refresh_token', ...(sets ? { sets } : {}) };
}

type RefreshToken = Extract<AuthDefinition, { kind: 'oauth2_refresh_token' }>;

/** Requests with the refresh token of the config, for providers without a connect flow. */
export function refreshTokenAt(token_url: string): RefreshToken {
  return { kind: 'oauth2_refresh_token', token_url, ...CLIENT, refresh_token: '{{parameters.refresh_token}}' };
}

/** Requests with the refresh token that the connect flow stored. */
export function refreshTokenOf(provider: OAuthProvider): RefreshToken {
  return refreshTokenAt(PROVIDERS[provider].token_url);
}

type ClientCredentials = Extract<AuthDefinition, { kind: 'oauth2_client_credentials' }>;

/** Requests with a token of the client itself. */
export function clientCredentialsAt(token_url: string, more: Pick<ClientCredentials, 'scope' | 'extra' | 'style'> = {}): ClientCredentials {
  return { kind: 'oauth2_client_credentials', token_url, ...CLIENT, ...more };
}

/** The three fields, all required, or only with a value of another field. */
export function oauthFields(
  client: { help_text: string; client_id: string; client_secret: string; refresh_token: string },
  when?: ConfigField['required_when'],
): ConfigField[] {
  const rule = when ? { required: false, required_when: when } : { required: true };
  return [
    {
      key: 'client_id',
      label: 'OAuth client ID',
      type: 'string',
      ...rule,
      placeholder: client.client_id,
      help_text: client.help_text,
    },
    {
      key: 'client_secret',
      label: 'OAuth client secret',
      type: 'secret',
      ...rule,
      placeholder: client.client_secret,
      help_text: client.help_text,
    },
    {
      key: 'refresh_token',
      label: 'Refresh token',
      type: 'secret',
      ...rule,
      placeholder: client.refresh_token,
      help_text: 'Connect writes it. Or paste one that was issued to this client.',
    },
  ];
}
