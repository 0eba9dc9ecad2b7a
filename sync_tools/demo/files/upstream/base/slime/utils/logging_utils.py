import logging


def configure_logger(level: int = logging.INFO) -> None:
    logging.basicConfig(level=level, format="[%(asctime)s] %(name)s:%(lineno)d - %(message)s", force=True)


def init_tracking(args) -> None:
    if args.use_wandb:
        import wandb

        wandb.init(project=args.wandb_project, group=args.wandb_group, config=vars(args))


def finish_tracking(args) -> None:
    if args.use_wandb:
        import wandb

        wandb.finish()
