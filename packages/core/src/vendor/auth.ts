/** Auth kinds. Kinds without network access sign the request here; the others return a plan, and the deliver role fetches the token. */
import { hmacSha256, toBase64, toHex } from '../hash/hash.ts';
import { azureBlobSigner, serviceBusSigner } from './azure.ts';
import { fromBase64, utf8 } from './bytes.ts';
import type { ClientCertificate, ConfigFault, JwtPlan, RequestContext, TokenPlan } from './compiled.ts';
import type { AuthDefinition, JwtDefinition, TokenPlace } from './definition.ts';
import { headerNameFault, headerValueFault, setHeader, unmasked } from './header-rules.ts';
import { jwtSigner, parses } from './jwt.ts';
import { oauth1Signer } from './oauth1.ts';
import type { AwsCredentials } from './sigv4.ts';
import { signAws } from './sigv4.ts';
import { compileText } from './text.ts';

/** A request that is finished except for its credentials. Signers change `url` and `headers`. */
export interface Unsigned {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
}
export interface CompiledAuth {
  headers: Record<string, string>;
  query: [string, string][];
  token?: TokenPlan;
  /** Writes the fetched token into the request. */
  place?: (request: Unsigned, token: string) => void;
  /** Adds credentials that depend on the finished request. */
  sign?: Sign;
  tls?: ClientCertificate;
}
/** Private-key operations. The host provides them, because this package has no Node. */
export interface KeyOperations {
  /** Throws if the key does not parse. */
  sign(algorithm: 'RS256' | 'ES256', privateKey: string, data: Uint8Array): Uint8Array;
  /** SHA-256 of the public key in DER form. */
  fingerprint(privateKey: string): Uint8Array;
  /** Whether both parse and belong together, and until when the certificate is valid. */
  certificate(certificate: string, privateKey: string): { ok: true; valid_to: number } | { ok: false; message: string };
}
type Sign = (request: Unsigned, context: RequestContext) => void;
export interface AuthOptions {
  parameters: Record<string, unknown>;
  /** Replaces scheme and host by the config's `endpoint`. */
  redirect(url: string): string;
  where: string;
  keys?: KeyOperations;
}

const NOTHING: CompiledAuth = { headers: {}, query: [] };

export function compileAuth(definition: AuthDefinition | undefined, options: AuthOptions, faults: ConfigFault[]): CompiledAuth {
  if (!definition || definition.kind === 'none') return NOTHING;
  const text = resolver({ ...definition }, options, faults);
  const header = (name: string, value: string): CompiledAuth => {
    const fault = headerNameFault(name) ?? headerValueFault(value);
    if (fault) faults.push({ field: options.where, message: `credentials do not fit into a header: ${fault}` });
    return fault ? NOTHING : { headers: { [name]: unmasked(value) }, query: [] };
  };
  switch (definition.kind) {
    case 'choice': {
      const chosen = options.parameters[definition.field];
      return compileAuth(typeof chosen === 'string' ? definition.options[chosen] : undefined, options, faults);
    }
    case 'bearer':
      return header('Authorization', `Bearer ${text('token')}`);
    case 'basic':
      return header('Authorization', `Basic ${toBase64(utf8(`${text('username')}:${text('password')}`))}`);
    case 'header':
      return header(text('name'), text('value'));
    case 'query':
      return { headers: {}, query: [[text('name'), text('value')]] };
    case 'hmac':
      for (const key of ['header', 'timestamp_header'] as const) {
        const fault = definition[key] === undefined ? undefined : headerNameFault(text(key));
        if (fault) faults.push({ field: `${options.where}.${key}`, message: fault });
      }
      return { headers: {}, query: [], sign: hmacSigner(definition, text) };
    case 'standard_webhooks':
      return { headers: {}, query: [], sign: standardWebhooksSigner(text('secret')) };
    case 'aws_sigv4':
      for (const key of ['access_key_id', 'session_token'] as const) {
        const fault = headerValueFault(text(key));
        if (fault) faults.push({ field: `${options.where}.${key}`, message: fault });
      }
      return { headers: {}, query: [], sign: awsSigner(text) };
    case 'oauth1':
      return {
        headers: {},
        query: [],
        sign: oauth1Signer({
          consumer_key: text('consumer_key'),
          consumer_secret: text('consumer_secret'),
          token: text('token'),
          token_secret: text('token_secret'),
          signature_method: definition.signature_method ?? 'HMAC-SHA1',
        }),
      };
    case 'jwt':
      return jwtAuth(definition, options, faults);
    case 'azure_shared_key':
      return { headers: {}, query: [], sign: azureBlobSigner(text('account'), text('key')) };
    case 'mutual_tls':
      return mutualTls(definition, options, faults);
    case 'azure_sas':
      return { headers: {}, query: [...new URLSearchParams(text('token').replace(/^\?/, ''))] };
    case 'azure_service_bus_sas':
      return { headers: {}, query: [], sign: serviceBusSigner(text('resource'), text('key_name'), text('key')) };
    default: {
      const token = tokenPlan(definition, text, options, faults);
      return { headers: {}, query: [], token, place: placer(definition.place, options, faults) };
    }
  }
}

function mutualTls(definition: Extract<AuthDefinition, { kind: 'mutual_tls' }>, options: AuthOptions, faults: ConfigFault[]): CompiledAuth {
  const inner = compileAuth(definition.with, options, faults);
  const text = resolver({ ...definition }, options, faults);
  const [certificate, private_key] = [text('certificate'), text('private_key')];
  const tls: ClientCertificate = { certificate, private_key };
  // A masked key cannot connect, but its config must still compile for the preview.
  if (options.keys && !`${certificate}${private_key}`.includes('•')) {
    const found = options.keys.certificate(certificate, private_key);
    if (found.ok) tls.valid_to = found.valid_to;
    else faults.push({ field: `${options.where}.certificate`, message: found.message });
  }
  return { ...inner, tls, ...(inner.token ? { token: { ...inner.token, tls } } : {}) };
}

function placer(place: TokenPlace | undefined, { where }: AuthOptions, faults: ConfigFault[]): (request: Unsigned, token: string) => void {
  const { header = 'Authorization', prefix = 'Bearer ', query } = place ?? {};
  const fault = headerNameFault(header);
  if (fault) faults.push({ field: `${where}.place.header`, message: fault });
  return (request, token) => {
    if (query === undefined) setHeader(request.headers, header, `${prefix}${token}`);
    else {
      const separator = request.url.includes('?') ? '&' : '?';
      request.url += `${separator}${encodeURIComponent(query)}=${encodeURIComponent(token.toWellFormed())}`;
    }
  };
}

function jwtAuth({ jwt, place }: Extract<AuthDefinition, { kind: 'jwt' }>, options: AuthOptions, faults: ConfigFault[]): CompiledAuth {
  const plan = jwtPlan(jwt, { ...options, where: `${options.where}.jwt` }, faults);
  const put = placer(place, options, faults);
  const usable = options.keys !== undefined && parses(plan, options.keys);
  // A masked key cannot sign, but its config must still compile for the preview.
  if (options.keys && !usable && !plan.private_key.includes('•'))
    faults.push({ field: `${options.where}.jwt.private_key`, message: 'is not a private key in PEM form' });
  const sign = jwtSigner(plan, usable ? options.keys : undefined);
  return { headers: {}, query: [], sign: (request, { now }) => put(request, sign(now)) };
}

/** The JWT's texts with their parameters filled in. */
function jwtPlan(jwt: JwtDefinition, options: AuthOptions, faults: ConfigFault[]): JwtPlan {
  const text = resolver({ ...jwt }, options, faults);
  const claims: Record<string, string> = {};
  for (const [name, value] of Object.entries(jwt.claims)) claims[name] = compileText(value, options.parameters).constant ?? '';
  const key_id = text('key_id');
  return {
    algorithm: jwt.algorithm,
    private_key: text('private_key'),
    claims,
    lifetime_s: jwt.lifetime_s,
    ...(key_id === '' ? {} : { key_id }),
  };
}

/** The text of one of a definition's keys, with its parameters filled in. */
type Resolve = (key: string) => string;
/** Everything else must not be empty: an empty credential would be sent, or would sign what anybody can sign. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set(['password', 'session_token', 'scope', 'audience', 'key_id']);

function resolver(definition: Record<string, unknown>, { parameters, where }: AuthOptions, faults: ConfigFault[]): Resolve {
  const known = new Set<string>();
  return (key) => {
    const source = definition[key];
    if (typeof source !== 'string') return '';
    const { constant } = compileText(source, parameters);
    const message =
      constant === undefined
        ? 'may refer to {{parameters.NAME}} only'
        : constant === '' && !MAY_BE_EMPTY.has(key)
          ? 'refers to a parameter that has no value'
          : undefined;
    if (message !== undefined && !known.has(key)) faults.push({ field: `${where}.${key}`, message });
    known.add(key);
    return constant ?? '';
  };
}

function hmacSigner(definition: Extract<AuthDefinition, { kind: 'hmac' }>, text: Resolve): Sign {
  const name = text('header');
  const prefix = definition.prefix ?? 'sha256=';
  const stampHeader = text('timestamp_header');
  const key = utf8(text('secret'));
  return (request, context) => {
    const stamp = String(Math.floor(context.now / 1000));
    if (stampHeader) setHeader(request.headers, stampHeader, stamp);
    const digest = hmacSha256(key, stampHeader ? `${stamp}.` : '', request.body);
    setHeader(request.headers, name, prefix + (definition.encoding === 'base64' ? toBase64(digest) : toHex(digest)));
  };
}

function standardWebhooksSigner(secret: string): Sign {
  const key = fromBase64(secret.replace(/^whsec_/, ''));
  return (request, { request_id, now }) => {
    const stamp = String(Math.floor(now / 1000));
    const mac = hmacSha256(key, `${request_id}.${stamp}.`, request.body);
    setHeader(request.headers, 'webhook-id', request_id);
    setHeader(request.headers, 'webhook-timestamp', stamp);
    setHeader(request.headers, 'webhook-signature', `v1,${toBase64(mac)}`);
  };
}

function awsSigner(text: Resolve): Sign {
  const session = unmasked(text('session_token'));
  const credentials: AwsCredentials = {
    access_key_id: unmasked(text('access_key_id')),
    secret_access_key: text('secret_access_key'),
    region: text('region'),
    service: text('service'),
    ...(session === '' ? {} : { session_token: session }),
  };
  return (request, context) => {
    for (const [name, value] of Object.entries(signAws(request, credentials, context.now))) setHeader(request.headers, name, value);
  };
}

type OAuthDefinition = Extract<
  AuthDefinition,
  { kind: 'oauth2_client_credentials' | 'oauth2_refresh_token' | 'google_service_account' | 'oauth2_jwt_bearer' }
>;

function tokenPlan(definition: OAuthDefinition, text: Resolve, options: AuthOptions, faults: ConfigFault[]): TokenPlan {
  const token_url = options.redirect(text('token_url'));
  switch (definition.kind) {
    case 'oauth2_client_credentials': {
      const [scope, audience] = [text('scope'), text('audience')];
      return {
        kind: definition.kind,
        token_url,
        client_id: text('client_id'),
        client_secret: text('client_secret'),
        ...(scope === '' ? {} : { scope }),
        ...(audience === '' ? {} : { audience }),
        ...extraOf(definition.extra, options),
        ...(definition.style === undefined ? {} : { style: definition.style }),
      };
    }
    case 'oauth2_refresh_token':
      return {
        kind: definition.kind,
        token_url,
        client_id: text('client_id'),
        client_secret: text('client_secret'),
        refresh_token: text('refresh_token'),
      };
    case 'google_service_account':
      return {
        kind: definition.kind,
        token_url,
        client_email: text('client_email'),
        private_key: text('private_key'),
        scope: text('scope'),
      };
    case 'oauth2_jwt_bearer': {
      const scope = text('scope');
      const jwt = jwtPlan(definition.jwt, { ...options, where: `${options.where}.jwt` }, faults);
      return {
        kind: definition.kind,
        token_url,
        jwt,
        ...(scope === '' ? {} : { scope }),
        ...(definition.role === undefined ? {} : { role: definition.role }),
        ...extraOf(definition.extra, options),
      };
    }
  }
}

/** Further fields of a token request; empty ones are left out. */
function extraOf(texts: Record<string, string> | undefined, options: AuthOptions): { extra?: Record<string, string> } {
  const extra = Object.entries(texts ?? {})
    .map(([name, value]): [string, string] => [name, compileText(value, options.parameters).constant ?? ''])
    .filter(([, value]) => value !== '');
  return extra.length === 0 ? {} : { extra: Object.fromEntries(extra) };
}
