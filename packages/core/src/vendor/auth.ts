/** Auth kinds. What needs no network stands in the request; OAuth kinds name a plan, and the role brings the access token. */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { base64, utf8 } from './bytes.ts';
import type { ConfigFault, RequestContext, TokenPlan } from './compiled.ts';
import type { AuthDefinition } from './definition.ts';
import { headerNameFault, headerValueFault, setHeader, unmasked } from './header-rules.ts';
import type { AwsCredentials } from './sigv4.ts';
import { signAws } from './sigv4.ts';
import { compileText } from './text.ts';

export interface CompiledAuth {
  headers: Record<string, string>;
  query: [string, string][];
  token?: TokenPlan;
  /** Adds headers that depend on the finished request. */
  sign?: Sign;
}
type Sign = (request: { method: string; url: string; headers: Record<string, string>; body: Uint8Array }, context: RequestContext) => void;
export interface AuthOptions {
  parameters: Record<string, unknown>;
  /** Puts the config's `endpoint` in place of scheme and host. */
  redirect(url: string): string;
  where: string;
}

const NOTHING: CompiledAuth = { headers: {}, query: [] };

export function compileAuth(definition: AuthDefinition | undefined, options: AuthOptions, faults: ConfigFault[]): CompiledAuth {
  if (!definition || definition.kind === 'none') return NOTHING;
  const text = resolver(definition, options, faults);
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
      return header('Authorization', `Basic ${base64(utf8(`${text('username')}:${text('password')}`))}`);
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
    case 'aws_sigv4':
      for (const key of ['access_key_id', 'session_token'] as const) {
        const fault = headerValueFault(text(key));
        if (fault) faults.push({ field: `${options.where}.${key}`, message: fault });
      }
      return { headers: {}, query: [], sign: awsSigner(text) };
    default:
      return { headers: {}, query: [], token: tokenPlan(definition, text, options.redirect) };
  }
}

/** The text of one of a definition's keys, its parameters put in. */
type Resolve = (key: string) => string;
/** What may be empty; an empty credential would be sent as one, or sign what anybody can sign. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set(['password', 'session_token', 'scope', 'audience']);

function resolver(definition: AuthDefinition, { parameters, where }: AuthOptions, faults: ConfigFault[]): Resolve {
  const known = new Set<string>();
  return (key) => {
    const source = (definition as Record<string, unknown>)[key];
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
    let mac = hmac.create(sha256, key);
    if (stampHeader) {
      const stamp = String(Math.floor(context.now / 1000));
      setHeader(request.headers, stampHeader, stamp);
      mac = mac.update(utf8(`${stamp}.`));
    }
    const digest = mac.update(request.body).digest();
    setHeader(request.headers, name, prefix + (definition.encoding === 'base64' ? base64(digest) : bytesToHex(digest)));
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

type OAuthDefinition = Extract<AuthDefinition, { kind: 'oauth2_client_credentials' | 'oauth2_refresh_token' | 'google_service_account' }>;

function tokenPlan(definition: OAuthDefinition, text: Resolve, redirect: (url: string) => string): TokenPlan {
  const token_url = redirect(text('token_url'));
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
  }
}
