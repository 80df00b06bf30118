/** The vendor format: how requests are authenticated, and how a person connects an account. */

/** Where a fetched or signed token is placed. Default: `Authorization: Bearer <token>`. */
export interface TokenPlace {
  header?: string;
  /** Text before the token, `Bearer ` by default. An empty text is allowed. */
  prefix?: string;
  /** Name of a query parameter. It replaces the header. */
  query?: string;
}

/** A JSON Web Token, signed with the customer's own key. Claims are texts; `iat` and `exp` are added. */
export interface JwtDefinition {
  algorithm: 'RS256' | 'ES256' | 'HS256';
  /** PEM for RS256 and ES256, the shared secret for HS256. */
  private_key: string;
  key_id?: string;
  /** May also refer to `{{key.fingerprint}}`: `SHA256:` and the base64 SHA-256 of the public key (Snowflake). */
  claims: Record<string, string>;
  lifetime_s: number;
}

export type AuthDefinition =
  | { kind: 'none' }
  | { kind: 'bearer'; token: string }
  | { kind: 'basic'; username: string; password: string }
  | { kind: 'header'; name: string; value: string }
  | { kind: 'query'; name: string; value: string }
  /** Signs the exact bytes of the body; with `timestamp_header` the signed content is `<unix seconds>.<body>`. */
  | { kind: 'hmac'; header: string; secret: string; prefix?: string; encoding?: 'hex' | 'base64'; timestamp_header?: string }
  /**
   * Standard Webhooks: sets `webhook-id`, `webhook-timestamp` and `webhook-signature`, which signs `<id>.<unix seconds>.<body>`. `secret` is
   * base64, with or without `whsec_`.
   */
  | { kind: 'standard_webhooks'; secret: string }
  | {
      kind: 'aws_sigv4';
      access_key_id: string;
      secret_access_key: string;
      session_token?: string;
      region: string;
      service: string;
    }
  /** OAuth 1.0a: signs method, URL, query and form fields (X). */
  | {
      kind: 'oauth1';
      consumer_key: string;
      consumer_secret: string;
      token: string;
      token_secret: string;
      signature_method?: 'HMAC-SHA1' | 'HMAC-SHA256';
    }
  /** A self-signed token is the credential (Snowflake key pair). A new one is signed when the last tenth of its lifetime begins. */
  | { kind: 'jwt'; jwt: JwtDefinition; place?: TokenPlace }
  /** Azure Storage SharedKey, version 2021-12-02: signs the finished request. `key` is the base64 account key. */
  | { kind: 'azure_shared_key'; account: string; key: string }
  /** Azure Storage SAS: `token` is the query string the customer generated (`sv=…&sig=…`). It is appended to the query. */
  | { kind: 'azure_sas'; token: string }
  /** Azure Event Hubs and Service Bus: a SAS token signed for `resource` (the URL of the hub), valid for an hour. */
  | { kind: 'azure_service_bus_sas'; resource: string; key_name: string; key: string }
  | {
      kind: 'oauth2_client_credentials';
      token_url: string;
      client_id: string;
      client_secret: string;
      scope?: string;
      audience?: string;
      /** Further fields of the token request, such as `account_id`. Texts. */
      extra?: Record<string, string>;
      /** `form` (default) and `json`: client id and secret in the body. `basic`: in the Authorization header, the rest as a form. */
      style?: 'form' | 'json' | 'basic';
      place?: TokenPlace;
    }
  | { kind: 'oauth2_refresh_token'; token_url: string; client_id: string; client_secret: string; refresh_token: string; place?: TokenPlace }
  | { kind: 'google_service_account'; token_url: string; client_email: string; private_key: string; scope: string; place?: TokenPlace }
  /**
   * RFC 7523: a self-signed token is exchanged for an access token (Salesforce, DocuSign). `role: 'client'`: it authenticates the client
   * of a client credentials grant instead (Yahoo). `extra`: further fields of the token request. Texts.
   */
  | {
      kind: 'oauth2_jwt_bearer';
      token_url: string;
      jwt: JwtDefinition;
      scope?: string;
      role?: 'grant' | 'client';
      extra?: Record<string, string>;
      place?: TokenPlace;
    }
  /**
   * Mutual TLS: the client certificate for every connection, token requests included. Both texts are PEM; `certificate` may contain its
   * chain. `with` adds a second credential.
   */
  | { kind: 'mutual_tls'; certificate: string; private_key: string; with?: AuthDefinition }
  /** The value of a config field selects the kind. */
  | { kind: 'choice'; field: string; options: Record<string, AuthDefinition> };
export type AuthKind = AuthDefinition['kind'];

/**
 * The OAuth 2 connect flow: a person authorises the organisation's own client at the vendor, and the refresh token is stored in the config
 * (`POST /integrations/{id}/connect`). Authorization code with PKCE.
 */
export interface ConnectDefinition {
  /** The name of the page where the person signs in: `Google`, `Salesforce`. */
  provider: string;
  /** Text. Not replaced by the config's `endpoint`, because a browser opens it. */
  authorize_url: string;
  /** Text. The config's `endpoint` replaces its scheme and host. */
  token_url: string;
  /** Text. */
  client_id: string;
  /** Text. */
  client_secret: string;
  scopes: string[];
  /** Further query parameters of the authorize URL, such as `access_type: offline`. */
  extra?: Record<string, string>;
  /** `false` only for providers that reject a PKCE challenge from a client with a secret. */
  pkce?: boolean;
  /** The config field that receives the refresh token. */
  refresh_token_field: string;
  /** Config fields that a connection sets too, such as the auth method. */
  sets?: Record<string, string>;
}
