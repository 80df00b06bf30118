import { Button, Menu, useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { organisationQuery } from '../queries.ts';
import { useUser } from '../session/use-session.ts';
import classes from './shell.module.css';
import { signOut } from './sign-out.tsx';

export function AccountMenu() {
  const user = useUser();
  const organisation = useQuery(organisationQuery());
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <Button variant="default">
          <span className={classes.organisation}>{organisation.data?.name ?? user.email.split('@', 1)[0]}</span>
          <span className={classes.role}>{`\u00a0· ${user.role}`}</span>
          {'\u00a0▾'}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {user.name === '' ? user.email : `${user.name}, ${user.email}`}, {user.role}
        </Menu.Label>
        <Menu.Label>Theme</Menu.Label>
        {(['light', 'dark', 'auto'] as const).map((scheme) => (
          <Menu.Item key={scheme} onClick={() => setColorScheme(scheme)} rightSection={colorScheme === scheme ? '✓' : undefined}>
            {{ light: 'Light', dark: 'Dark', auto: 'As the system' }[scheme]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item component="a" href="/docs">
          API documentation
        </Menu.Item>
        <Menu.Item component={Link} to="/try">
          Try the API
        </Menu.Item>
        <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>
        <Menu.Item onClick={() => void signOut(true)}>Sign out everywhere</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
