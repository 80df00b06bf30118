import { Button, Group, Table, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Fragment, type ReactNode, useState } from 'react';
import { api, call } from '../../api.ts';
import { AddressInput } from '../../components/address-input.tsx';
import { LinkButton } from '../../components/link-button.tsx';
import { MoreButton } from '../../components/more-button.tsx';
import { Page } from '../../components/page.tsx';
import { UserSelect } from '../../components/server-select.tsx';
import { Empty, Failed, Loading } from '../../components/states.tsx';
import { Tag } from '../../components/tag.tsx';
import { dateTime, number } from '../../format.ts';
import { failureText } from '../../forms.ts';
import { nextOffset } from '../../next-offset.ts';
import classes from './audit.module.css';
import { AuditEntry } from './audit-entry.tsx';
import type { Entry } from './entry.ts';
import { Resource } from './resource.tsx';

interface Filters {
  action?: string;
  resource?: string;
  user?: string;
  /** Days, `2026-05-31`: the first and the last, in the time zone of whoever reads. */
  from?: string;
  to?: string;
  selected?: string;
}
const PAGE = 50;

export function AuditPage() {
  const { action, resource, user, from, to, selected } = useSearch({ strict: false }) as Filters;
  const navigate = useNavigate();
  const setFilter = (name: keyof Filters, value: string) =>
    void navigate({
      to: '/audit',
      search: (old: Filters) => ({ ...old, [name]: value === '' ? undefined : value }),
    } as never);
  const entries = useInfiniteQuery({
    queryKey: ['audit', action, resource, user, from, to],
    initialPageParam: 0,
    queryFn: ({ pageParam }) =>
      call(
        api.GET('/v1/admin/audit-logs', {
          params: {
            query: {
              limit: PAGE,
              offset: pageParam,
              ...(action === undefined ? {} : { action }),
              ...(resource === undefined ? {} : { resource_id: resource }),
              ...(user === undefined ? {} : { user_id: user }),
              ...momentOf('from', from),
              ...momentOf('to', to),
            },
          },
        }),
      ),
    getNextPageParam: (last) => nextOffset(last, last.audit_logs),
  });
  const verify = useMutation({
    mutationFn: () => call(api.GET('/v1/admin/audit-logs/verify', {})),
    onSuccess: ({ valid, checked, first_invalid_id }) =>
      notifications.show(
        valid
          ? { message: `The chain is whole: ${number(checked)} entries checked.` }
          : {
              color: 'red',
              title: 'The chain is broken',
              message: `First at ${first_invalid_id}. Somebody changed the log outside of the service.`,
              autoClose: false,
            },
      ),
    onError: (error) => notifications.show({ color: 'red', title: 'Not verified', message: failureText(error) }),
  });
  const filtered = [action, resource, user, from, to].some((value) => value !== undefined);
  const rows = (entries.data?.pages.flatMap((page) => page.audit_logs) ?? []) as Entry[];
  return (
    <Page
      title="Audit"
      about="Every change, by whom and from where. Entries are chained: a changed or missing one is found."
      actions={
        <Button variant="default" onClick={() => verify.mutate()} loading={verify.isPending}>
          Verify the chain
        </Button>
      }
    >
      <Group gap="xs" mb="sm" align="flex-end" className="filters">
        <Filter name="action" label="Action" placeholder="for example pipeline.updated" value={action} onChange={setFilter} />
        <Filter name="resource" label="Id of what was changed" placeholder="for example pl_01…" value={resource} onChange={setFilter} />
        <UserSelect
          size="xs"
          w={200}
          label="Who"
          placeholder="Anybody"
          clearable
          value={user ?? null}
          onChange={(next) => setFilter('user', next ?? '')}
        />
        <Group gap="xs" wrap="nowrap" className="filters">
          <Day name="from" label="From" value={from} onChange={setFilter} />
          <Day name="to" label="To" value={to} onChange={setFilter} />
        </Group>
      </Group>
      {entries.isPending ? (
        <Loading what="the audit log" />
      ) : entries.isLoadingError ? (
        <Failed error={entries.error} retry={() => void entries.refetch()} />
      ) : rows.length === 0 ? (
        <Empty
          title={filtered ? 'No entry matches' : 'No entries yet'}
          action={
            filtered ? (
              <Button variant="default" onClick={() => void navigate({ to: '/audit' })}>
                Clear the filters
              </Button>
            ) : (
              <LinkButton to="/pipelines">Go to the pipelines</LinkButton>
            )
          }
        >
          Entries begin with the first change of this organisation.
        </Empty>
      ) : (
        <>
          <section className="panel" style={{ overflowX: 'auto' }}>
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Time</Table.Th>
                  <Table.Th visibleFrom="sm">Who</Table.Th>
                  <Table.Th>Action</Table.Th>
                  <Table.Th visibleFrom="sm">On</Table.Th>
                  <Table.Th visibleFrom="sm">Changed</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {rows.map((entry) => (
                  <Table.Tr key={entry.id}>
                    <Table.Td className={classes.time}>
                      <Link
                        to="/audit"
                        search={((old: Filters) => ({ ...old, selected: entry.id })) as never}
                        title="What was changed, and from where"
                      >
                        {dateTime(entry.timestamp)}
                      </Link>
                      <span className={`${classes.small} dim`}>{entry.user_email ?? 'the command line'}</span>
                    </Table.Td>
                    <Table.Td visibleFrom="sm">{entry.user_email ?? 'the command line'}</Table.Td>
                    <Table.Td className={classes.action ?? ''}>
                      <Tag>{breakable(entry.action)}</Tag>
                      <span className={classes.small}>
                        <Changes entry={entry} />
                      </span>
                    </Table.Td>
                    <Table.Td visibleFrom="sm" className="mono">
                      <Resource entry={entry} />
                    </Table.Td>
                    <Table.Td visibleFrom="sm">
                      <Changes entry={entry} />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </section>
          <MoreButton shown={rows.length} total={entries.data.pages[0]?.total ?? 0} query={entries} />
        </>
      )}
      <AuditEntry id={selected} listed={rows.find(({ id }) => id === selected)} onClose={() => setFilter('selected', '')} />
    </Page>
  );
}

/** The first or last moment of the day. What is no day filters nothing. */
function momentOf(name: 'from' | 'to', day: string | undefined): { from?: string; to?: string } {
  const [year = Number.NaN, month = 1, date = 1] = (day ?? '').split('-').map(Number);
  const moment = name === 'from' ? new Date(year, month - 1, date) : new Date(year, month - 1, date, 23, 59, 59, 999);
  return day === undefined || Number.isNaN(moment.getTime()) ? {} : { [name]: moment.toISOString() };
}

/** May take a second line after a dot or an underscore. */
const breakable = (action: string): ReactNode =>
  action.split(/(?<=[._])/).map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));

/** The changed fields; opens what they were before and after. */
function Changes({ entry: { id, changes } }: { entry: Entry }) {
  const fields = Object.keys(changes);
  if (fields.length === 0) return null;
  return (
    <Link to="/audit" search={((old: Filters) => ({ ...old, selected: id })) as never} className={classes.changes}>
      {summaryOf(changes)}
    </Link>
  );
}

/** What was made is known by its name; its fields are all new. */
function summaryOf(changes: Entry['changes']): string {
  const fields = Object.keys(changes);
  const isNew = fields.includes('id') && Object.values(changes).every(({ old }) => old === undefined || old === null);
  const name = [changes.name, changes.email, changes.change_summary].map((change) => change?.new).find((text) => text !== '');
  return isNew && typeof name === 'string' ? name : fields.join(', ');
}

interface FilterProps {
  name: keyof Filters;
  label: string;
  placeholder?: string;
  value: string | undefined;
  onChange: (name: keyof Filters, value: string) => void;
}
/** Applied with Enter and when the field is left. */
function Filter({ name, label, placeholder, value = '', onChange }: FilterProps) {
  const [typed, setTyped] = useState({ text: value, of: value });
  // The address was changed: by this field, by Back, or by a button.
  if (typed.of !== value) setTyped({ text: value, of: value });
  const apply = () => typed.text.trim() !== value && onChange(name, typed.text.trim());
  return (
    <TextInput
      size="xs"
      w={200}
      label={label}
      placeholder={placeholder}
      value={typed.text}
      onChange={({ currentTarget }) => setTyped({ text: currentTarget.value, of: value })}
      onBlur={apply}
      onKeyDown={({ key }) => key === 'Enter' && apply()}
    />
  );
}
function Day({ name, label, value = '', onChange }: FilterProps) {
  return (
    <AddressInput
      type="date"
      size="xs"
      w={140}
      label={label}
      value={value}
      // The year is typed digit by digit: 0002, 0020, 0202.
      onChange={(day) => day.startsWith('0') || onChange(name, day)}
    />
  );
}
