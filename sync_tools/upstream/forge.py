"""What GitHub knows about a pull request beyond git: asked for where a token is set, never needed."""

import os
from dataclasses import dataclass

from sync_tools.config import Config


@dataclass(frozen=True)
class Metadata:
    """Facts of a pull request's page."""

    title: str
    url: str
    labels: tuple[str, ...]
    merged_by: str


def token() -> str | None:
    return os.environ.get("GITHUB_TOKEN") or os.environ.get("GH_TOKEN") or None


def pull_request(config: Config, number: int, *, timeout: int = 5) -> Metadata | None:
    """The page of a pull request, or None without a token, without a network, or when GitHub says no."""
    secret = token()
    if not secret:
        return None
    from github import Auth, Github, GithubException
    from requests.exceptions import RequestException

    try:
        base = os.environ.get("GITHUB_API_URL") or "https://api.github.com"
        with Github(base_url=base, auth=Auth.Token(secret), timeout=timeout, retry=None, lazy=True) as forge:
            page = forge.get_repo(config.upstream.repo).get_pull(number)
            return Metadata(
                page.title,
                page.html_url,
                tuple(label.name for label in page.labels),
                page.merged_by.login if page.merged_by else "",
            )
    except (GithubException, RequestException, OSError):
        return None
