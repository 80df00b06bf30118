/** One sample event really goes to the vendor, so that wrong credentials are known at once. Its answer stands below. */
import { Checkbox, Group, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { milliseconds } from '../format.ts';
import { failureText } from '../forms.ts';
import { SAMPLE_BODY } from '../sample-event.ts';
import { Json } from './json.tsx';
import { RoleButton } from './role-button.tsx';
import { Tag } from './tag.tsx';

export interface TestMode {
  field: string;
  /** Absent where the vendor's own page gives a code. */
  value?: unknown;
  effect: string;
}
export interface TestBody {
  event: Record<string, unknown>;
  test_mode?: boolean;
  test_code?: string;
}
export interface TestAnswer {
  status: number | null;
  duration_ms: number;
  response_excerpt: string;
}
export interface TestEventProps {
  /** What is sent where. */
  about: string;
  testMode: TestMode | null;
  send: (body: TestBody) => Promise<TestAnswer>;
  onError?: (error: unknown) => void;
  /** An integration is loaded a second or two after it was made. */
  retry?: number;
}

const { userAgent: user_agent, ...context } = SAMPLE_BODY.context;
const EVENT = {
  type: 'track',
  event: SAMPLE_BODY.event,
  user_id: SAMPLE_BODY.userId,
  anonymous_id: SAMPLE_BODY.anonymousId,
  properties: SAMPLE_BODY.properties,
  traits: SAMPLE_BODY.traits,
  context: { ...context, user_agent },
};

export function TestEvent({ about, testMode, send, onError, retry = 0 }: TestEventProps) {
  const [isTest, setIsTest] = useState(testMode !== null && testMode.value !== undefined);
  const [code, setCode] = useState('');
  const needsCode = testMode !== null && testMode.value === undefined;
  const test = useMutation({
    mutationFn: () => send({ event: EVENT, ...(isTest ? { test_mode: true, ...(needsCode ? { test_code: code } : {}) } : {}) }),
    retry,
    retryDelay: 1_000,
    ...(onError === undefined ? {} : { onError }),
  });
  const status = test.data?.status ?? null;
  return (
    <section aria-label="Test event">
      <Text size="sm">{about}</Text>
      {testMode !== null && (
        <Checkbox
          mt="xs"
          label="In the vendor’s test mode"
          description={testMode.effect}
          checked={isTest}
          onChange={({ currentTarget }) => setIsTest(currentTarget.checked)}
        />
      )}
      {isTest && needsCode && (
        <TextInput mt="xs" label="Test code" value={code} onChange={({ currentTarget }) => setCode(currentTarget.value.trim())} />
      )}
      <Group mt="xs" gap="xs">
        <RoleButton
          needs="editor"
          variant="default"
          disabled={isTest && needsCode && code === ''}
          onClick={() => test.mutate()}
          loading={test.isPending}
        >
          Send a test event
        </RoleButton>
        {test.data !== undefined && (
          <span role="status">
            <Tag tone={status !== null && status < 400 ? 'ok' : 'bad'}>{status ?? 'no answer'}</Tag> {milliseconds(test.data.duration_ms)}
          </span>
        )}
      </Group>
      {test.data !== undefined && test.data.response_excerpt !== '' && (
        <div style={{ marginTop: 8 }}>
          <Json value={test.data.response_excerpt} label="Answer of the vendor" maxHeight={140} />
        </div>
      )}
      {test.isError && (
        <Text size="sm" c="var(--bad)" role="alert" mt="xs">
          {failureText(test.error)}
        </Text>
      )}
    </section>
  );
}
