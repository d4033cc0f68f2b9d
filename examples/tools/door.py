def closes(day):
    return 14 if day == "Saturday" else 18
