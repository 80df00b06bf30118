/** Tries one operation of the API as the signed-in user. The operations come from the service's own OpenAPI document. */
import { Alert, Button, Group, Select, Stack, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api, call, Unreachable } from '../../api.ts';
import { CopyAsCurl } from '../../components/copy-as-curl.tsx';
import { Editor } from '../../components/editor.tsx';
import { Json } from '../../components/json.tsx';
import { Page } from '../../components/page.tsx';
import { Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { milliseconds } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { session } from '../../session/session.ts';
import { useUser } from '../../session/use-session.ts';
import { addressOf, type Operation, operationsOf } from './operations.ts';
import classes from './try.module.css';

const DEFAULT = 'listPipelines';

export function TryPage() {
  const { operation: wanted = DEFAULT } = useSearch({ strict: false }) as { operation?: string };
  const navigate = useNavigate();
  const operations = useQuery({
    queryKey: ['openapi'],
    queryFn: async () => operationsOf(await call(api.GET('/v1/admin/openapi.json', {}))),
    staleTime: Infinity,
  });
  if (operations.isPending) return <Loading what="the API" />;
  if (operations.isLoadingError) return <Failed error={operations.error} retry={() => void operations.refetch()} />;
  const chosen = operations.data.find(({ id }) => id === wanted) ?? operations.data[0];
  const groups = [...Map.groupBy(operations.data, ({ tag }) => tag)].map(([group, items]) => ({
    group,
    items: items.map(({ id, summary }) => ({ value: id, label: summary })),
  }));
  return (
    <Page
      title="Try the API"
      about={
        <>
          Requests are sent as you, with your role. <a href="/docs">Read the documentation</a>
        </>
      }
    >
      <Select
        label="Operation"
        searchable
        allowDeselect={false}
        maw={480}
        mb="md"
        data={groups}
        value={chosen?.id ?? null}
        onChange={(operation) => operation !== null && void navigate({ to: '/try', search: { operation }, replace: true })}
      />
      {chosen !== undefined && <Attempt key={chosen.id} operation={chosen} />}
    </Page>
  );
}

interface Answer {
  status: number;
  took: number;
  body: unknown;
}

function Attempt({ operation }: { operation: Operation }) {
  const { method, path, parameters, role } = operation;
  const user = useUser();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [body, setBody] = useState(() => (operation.body === undefined ? '' : JSON.stringify(operation.body, null, 2)));
  const address = addressOf(operation, values);
  const missing = parameters.find(({ name, required }) => required === true && !values[name]);
  const send = useMutation({
    mutationFn: async (): Promise<Answer> => {
      const started = performance.now();
      const answer = await fetch(address, {
        method,
        headers: {
          authorization: `Bearer ${(await session.token()) ?? ''}`,
          ...(body === '' ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === '' ? {} : { body }),
      }).catch(() => {
        throw new Unreachable();
      });
      const text = await answer.text();
      return { status: answer.status, took: performance.now() - started, body: parsed(text) };
    },
  });
  const curl = `curl -X ${method} '${location.origin}${address}' \\\n  -H 'authorization: Bearer <API token>'${body === '' ? '' : ` \\\n  -H 'content-type: application/json' \\\n  -d '${body.replaceAll("'", "'\\''")}'`}`;
  return (
    <div className={classes.columns}>
      <section className="panel" style={{ padding: 16 }} aria-label="Request">
        <Stack gap="sm">
          <p className="mono" style={{ margin: 0, overflowWrap: 'anywhere' }}>
            <b>{method}</b> {path} {role !== undefined && role !== 'public' && <Tag>{role}</Tag>}
          </p>
          {parameters.map(({ name, required, description, in: place, schema }) => (
            <TextInput
              key={`${place} ${name}`}
              label={name}
              description={description}
              withAsterisk={required === true}
              placeholder={schema?.enum?.join(' | ') ?? (schema?.default === undefined ? place : String(schema.default))}
              value={values[name] ?? ''}
              onChange={({ currentTarget }) => setValues({ ...values, [name]: currentTarget.value })}
            />
          ))}
          {operation.body !== undefined && <Editor label="Body" language="json" value={body} onChange={setBody} minHeight={140} />}
          {method !== 'GET' && <Alert color="yellow">This is not a rehearsal: it changes your organisation as {user.email}.</Alert>}
          <Group gap="xs">
            <Button
              color={method === 'DELETE' ? 'red' : 'green'}
              loading={send.isPending}
              disabled={missing !== undefined}
              title={missing === undefined ? undefined : `${missing.name} is required`}
              onClick={() => send.mutate()}
            >
              Send {method}
            </Button>
            <CopyAsCurl command={curl} />
          </Group>
        </Stack>
      </section>
      <section className="panel" style={{ padding: 16, minWidth: 0 }} aria-label="Answer">
        <Group gap="xs" mb="xs">
          <Title order={2}>Answer</Title>
          {send.data !== undefined && (
            <span role="status">
              <Tag tone={send.data.status < 400 ? 'ok' : 'bad'}>{send.data.status}</Tag> {milliseconds(send.data.took)}
            </span>
          )}
        </Group>
        {send.isError && <Alert color="red">{failureText(send.error)}</Alert>}
        {send.data === undefined ? (
          <p className="dim">Nothing was sent yet.</p>
        ) : (
          <Json value={send.data.body} label="Body of the answer" maxHeight={640} />
        )}
      </section>
    </div>
  );
}
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // not every answer is JSON: a script, a source map, nothing
  }
}
